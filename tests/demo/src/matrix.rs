// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Const generics: each size is a type, and each product instantiates its own code.

use std::ops::Mul;

#[derive(Clone, Copy, Debug)]
pub struct Matrix<const R: usize, const C: usize>([[u64; C]; R]);

impl<const R: usize, const C: usize> Matrix<R, C> {
    pub fn filled(f: impl Fn(usize, usize) -> u64) -> Self {
        let mut cells = [[0; C]; R];
        for (r, row) in cells.iter_mut().enumerate() {
            for (c, cell) in row.iter_mut().enumerate() {
                *cell = f(r, c);
            }
        }
        Matrix(cells)
    }

    pub fn transposed(&self) -> Matrix<C, R> {
        Matrix::filled(|r, c| self.0[c][r])
    }

    pub fn trace(&self) -> u64 {
        self.0.iter().enumerate().filter_map(|(i, row)| row.get(i)).sum()
    }
}

impl<const R: usize, const K: usize, const C: usize> Mul<Matrix<K, C>> for Matrix<R, K> {
    type Output = Matrix<R, C>;

    fn mul(self, other: Matrix<K, C>) -> Matrix<R, C> {
        Matrix::filled(|r, c| (0..K).map(|k| self.0[r][k] * other.0[k][c]).sum())
    }
}

macro_rules! products {
    ($(($r:literal $k:literal $c:literal))*) => {
        pub fn trace_sum() -> u64 {
            let mut sum = 0u64;
            $(
                let a = Matrix::<$r, $k>::filled(|r, c| (r + c) as u64);
                let b = Matrix::<$k, $c>::filled(|r, c| (r * c) as u64);
                sum += (a * b).trace() + (b.transposed() * a.transposed()).trace();
            )*
            sum
        }
    };
}

products! {
    (2 5 6) (3 7 3) (4 6 7) (5 8 5) (6 10 5) (7 9 3) (8 11 4) (9 2 7)
    (3 7 7) (5 10 4) (7 7 8) (9 10 6) (11 2 6) (13 10 4) (2 2 5) (4 5 8)
    (4 9 8) (7 2 5) (10 8 9) (13 12 7) (3 5 7) (6 11 5) (9 4 6) (12 8 9)
    (5 11 9) (9 5 6) (13 9 3) (4 3 8) (8 8 8) (12 12 6) (3 6 7) (7 11 3)
    (6 2 3) (11 8 7) (3 10 4) (8 5 9) (13 11 9) (5 2 7) (10 8 8) (2 3 4)
    (7 4 4) (13 11 8) (6 11 5) (12 7 3) (5 3 3) (11 3 8) (4 10 9) (10 6 5)
    (8 6 5) (2 3 9) (9 12 6) (3 9 4) (10 6 4) (4 4 9) (11 12 3) (5 9 6)
    (9 8 6) (4 6 3) (12 2 7) (7 11 5) (2 9 5) (10 5 3) (5 3 4) (13 12 7)
    (10 10 7) (6 9 4) (2 3 8) (11 2 6) (7 12 6) (3 6 4) (12 5 5) (8 4 8)
    (11 12 8) (8 12 5) (5 4 9) (2 4 7) (12 4 7) (9 7 5) (6 7 6) (3 7 9)
    (12 3 9) (10 4 6) (8 5 3) (6 6 8) (4 7 8) (2 8 6) (13 9 7) (11 10 3)
    (13 5 3) (12 7 7) (11 6 4) (10 8 9) (9 10 9) (8 9 7) (7 11 8) (6 2 4)
}
