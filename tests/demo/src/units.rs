// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Many small types and impls by macro: time spent in coherence, type checking and MIR building.

use std::fmt;
use std::ops::{Add, Div, Mul, Sub};

pub trait Unit: Copy + fmt::Display {
    const NAME: &'static str;
    const FACTOR: f64;
    fn new(value: f64) -> Self;
    fn value(self) -> f64;

    fn to<U: Unit>(self) -> U {
        U::new(self.value() * Self::FACTOR / U::FACTOR)
    }
}

macro_rules! units {
    ($($name:ident = $factor:expr;)*) => {
        $(
            #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
            pub struct $name(f64);

            impl Unit for $name {
                const NAME: &'static str = stringify!($name);
                const FACTOR: f64 = $factor;
                fn new(value: f64) -> Self { $name(value) }
                fn value(self) -> f64 { self.0 }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, "{:.3} {}", self.0, Self::NAME)
                }
            }

            impl Add for $name {
                type Output = Self;
                fn add(self, other: Self) -> Self { $name(self.0 + other.0) }
            }

            impl Sub for $name {
                type Output = Self;
                fn sub(self, other: Self) -> Self { $name(self.0 - other.0) }
            }

            impl Mul<f64> for $name {
                type Output = Self;
                fn mul(self, by: f64) -> Self { $name(self.0 * by) }
            }

            impl Div<f64> for $name {
                type Output = Self;
                fn div(self, by: f64) -> Self { $name(self.0 / by) }
            }
        )*

        /// Every unit into every other: a generic instance for each pair.
        pub fn all_conversions() -> f64 {
            fn from<U: Unit>(start: U) -> f64 {
                let mut sum = 0.0;
                $( sum += start.to::<$name>().value(); )*
                sum
            }
            let mut sum = 0.0;
            $( sum += from($name::new(1.0)); )*
            sum
        }
    };
}

units! {
    Picometer = 1e-12; Nanometer = 1e-9; Micrometer = 1e-6; Millimeter = 1e-3; Centimeter = 1e-2;
    Decimeter = 1e-1; Meter = 1.0; Decameter = 1e1; Hectometer = 1e2; Kilometer = 1e3;
    Inch = 0.0254; Foot = 0.3048; Yard = 0.9144; Chain = 20.1168; Furlong = 201.168;
    Mile = 1609.344; League = 4828.032; Fathom = 1.8288; Cable = 185.2; NauticalMile = 1852.0;
    Angstrom = 1e-10; Thou = 2.54e-5; Line = 2.116e-3; Hand = 0.1016; Rod = 5.0292;
    Ell = 1.143; Span = 0.2286; Pace = 0.762; Arshin = 0.7112; Verst = 1066.8;
    Shaku = 0.30303; Ken = 1.81818; Ri = 3927.27; Chi = 0.33333; Li = 500.0;
    LightSecond = 2.998e8; LightMinute = 1.799e10; AstronomicalUnit = 1.496e11;
    LightYear = 9.461e15; Parsec = 3.086e16;
}
