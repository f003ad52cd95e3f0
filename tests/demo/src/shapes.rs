// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Nested generic adaptors and trait objects: time spent in trait selection and drop elaboration.

pub trait Shape {
    fn area(&self) -> f64;

    fn scaled(self, by: f64) -> Scaled<Self>
    where
        Self: Sized,
    {
        Scaled { inner: self, by }
    }

    fn and<S: Shape>(self, other: S) -> Both<Self, S>
    where
        Self: Sized,
    {
        Both { a: self, b: other }
    }
}

#[derive(Clone)]
pub struct Scaled<S> {
    inner: S,
    by: f64,
}

#[derive(Clone)]
pub struct Both<A, B> {
    a: A,
    b: B,
}

impl<S: Shape> Shape for Scaled<S> {
    fn area(&self) -> f64 {
        self.inner.area() * self.by * self.by
    }
}

impl<A: Shape, B: Shape> Shape for Both<A, B> {
    fn area(&self) -> f64 {
        self.a.area() + self.b.area()
    }
}

macro_rules! polygons {
    ($($name:ident: $sides:expr;)*) => {
        $(
            #[derive(Clone, Debug)]
            pub struct $name {
                pub labels: Vec<String>,
                pub side: f64,
            }

            impl $name {
                pub fn new(side: f64) -> Self {
                    let labels = (0..$sides).map(|i| format!("{}{}", stringify!($name), i));
                    $name { labels: labels.collect(), side }
                }

                pub fn longest_label(&self) -> Option<&String> {
                    self.labels.iter().filter(|l| !l.is_empty()).max_by_key(|l| l.len())
                }
            }

            impl Shape for $name {
                fn area(&self) -> f64 {
                    let n = f64::from($sides);
                    n * self.side * self.side / (4.0 * (std::f64::consts::PI / n).tan())
                }
            }
        )*

        pub fn catalogue() -> Vec<Box<dyn Shape>> {
            vec![
                $(
                    Box::new($name::new(1.0)),
                    Box::new($name::new(2.0).scaled(0.5)),
                    Box::new($name::new(1.0).and($name::new(3.0)).scaled(2.0)),
                    Box::new($name::new(1.0).scaled(1.5).and(Triangle::new(1.0).scaled(3.0))),
                )*
            ]
        }
    };
}

polygons! {
    Triangle: 3; Square: 4; Pentagon: 5; Hexagon: 6; Heptagon: 7; Octagon: 8; Enneagon: 9;
    Decagon: 10; Hendecagon: 11; Dodecagon: 12; Tridecagon: 13; Tetradecagon: 14;
    Pentadecagon: 15; Hexadecagon: 16; Heptadecagon: 17; Octadecagon: 18; Icosagon: 20;
    Tetracontagon: 40; Hectogon: 100; Chiliagon: 1000;
}

pub fn total_area() -> f64 {
    catalogue().iter().map(|s| s.area()).sum()
}
