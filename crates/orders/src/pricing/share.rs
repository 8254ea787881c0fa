//! Shares of an amount by a rate.

/// A share in basis points, rounded half up; at most the amount itself.
pub(super) fn percent(amount: i64, points: u16) -> i64 {
    let points = i128::from(points.min(10_000));
    let rounded = (i128::from(amount) * points + 5_000) / 10_000;
    i64::try_from(rounded).unwrap_or(amount).min(amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_penny_is_one() {
        assert_eq!(percent(1, 5_000), 1);
        assert_eq!(percent(333, 1_000), 33);
    }
}
