//! Amounts of memory in bytes.
//!
//! In: quantities such as `80Gi`, `81559Mi` or `80G`. Out: exact bytes, whole GiB as the shipped
//! code uses them, and the canonical text.

use super::resource::{Quantity, QuantityError};
use std::fmt;

/// Bytes in a GiB.
pub const GIB: u64 = 1 << 30;

/// Memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Memory(pub u64);

/// Why a text or quantity is no amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The text is no quantity.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// Below zero.
    #[error("memory cannot be negative")]
    Negative,
    /// Beyond 2^63 bytes.
    #[error("the amount of memory is beyond 8Ei")]
    TooLarge,
}

impl Memory {
    /// For people: `21.6 GiB`, `512.0 MiB`.
    pub fn short(self) -> String {
        let gib = self.gib();
        // From here on one decimal of a GiB shows 1.0.
        if gib >= 0.95 { format!("{gib:.1} GiB") } else { format!("{:.1} MiB", gib * 1024.0) }
    }

    /// Reads a quantity as bytes; a bare number is bytes.
    pub fn parse(text: &str) -> Result<Self, MemoryError> {
        Self::try_from(&Quantity::parse_field(text)?)
    }

    /// Whole GiB; `None` beyond 2^64 bytes.
    pub fn from_gib(gib: u64) -> Option<Self> {
        gib.checked_mul(GIB).map(Self)
    }

    /// Whole GiB, rounded down as in the shipped accelerator selector: `80G` is 74, `81559Mi`
    /// is 79.
    pub fn whole_gib(self) -> u64 {
        self.0 / GIB
    }

    /// Whole GiB, rounded up.
    pub fn gib_rounded_up(self) -> u64 {
        self.0.div_ceil(GIB)
    }

    /// GiB with a fraction, for display and ratios; exact below 2^53 bytes.
    #[expect(clippy::cast_precision_loss, reason = "shown and compared as ratio only")]
    pub fn gib(self) -> f64 {
        self.0 as f64 / GIB as f64
    }

    /// The quantity, printed in powers of 1024.
    pub fn quantity(self) -> Quantity {
        Quantity::from_bytes(self.0)
    }

    /// The sum, at most 2^64 - 1 bytes.
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, at least nothing.
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// So many times the amount, at most 2^64 - 1 bytes.
    pub fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl TryFrom<&Quantity> for Memory {
    type Error = MemoryError;

    /// Fractions of a byte are rounded up.
    fn try_from(quantity: &Quantity) -> Result<Self, MemoryError> {
        if quantity.is_negative() {
            return Err(MemoryError::Negative);
        }
        quantity
            .value()
            .and_then(|bytes| u64::try_from(bytes).ok())
            .map(Self)
            .ok_or(MemoryError::TooLarge)
    }
}

impl fmt::Display for Memory {
    /// Writes the greatest binary unit without a fraction: `80Gi`, `81559Mi`, `1000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.quantity().canonical())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn memory_parses_to_bytes_and_rounds_to_gib() {
        for (text, bytes, floor, ceiling, shown) in [
            ("80Gi", 80 * GIB, 80, 80, "80Gi"),
            ("81559Mi", 81_559 << 20, 79, 80, "81559Mi"),
            ("80G", 80_000_000_000, 74, 75, "78125000Ki"),
            ("40", 40, 0, 1, "40"),
            ("1.5Gi", 3 * GIB / 2, 1, 2, "1536Mi"),
            ("500m", 1, 0, 1, "1"),
            ("0", 0, 0, 0, "0"),
            ("1024Mi", GIB, 1, 1, "1Gi"),
        ] {
            let memory = Memory::parse(text).unwrap();
            assert_eq!(
                (
                    memory.0,
                    memory.whole_gib(),
                    memory.gib_rounded_up(),
                    memory.to_string().as_str()
                ),
                (bytes, floor, ceiling, shown),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_memory_reports_the_kind_of_error() {
        for (text, error) in [
            ("-1Gi", MemoryError::Negative),
            ("8Ei", MemoryError::TooLarge),
            ("80GB", MemoryError::Quantity(QuantityError::Format)),
        ] {
            assert_eq!(Memory::parse(text), Err(error), "{text}");
        }
        assert_eq!(Memory::from_gib(u64::MAX), None);
        assert_eq!(Memory(5).saturating_sub(Memory(7)), Memory(0));
    }

    proptest! {
        #[test]
        fn shown_memory_reads_back(bytes in 0_u64..1 << 63, shift in 0_u32..62) {
            for bytes in [bytes, bytes >> shift << shift] {
                prop_assert_eq!(Memory::parse(&Memory(bytes).to_string()), Ok(Memory(bytes)));
            }
        }
    }
}
