//! Percentage of an amount.

/// Percentage in basis points, rounded half up; at most the amount itself.
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

    #[test]
    fn a_share_is_rounded_half_up_and_is_never_more_than_the_whole() {
        assert_eq!((percent(10_049, 100), percent(10_050, 100)), (100, 101));
        assert_eq!((percent(333, 10_000), percent(333, 20_000), percent(0, 10_000)), (333, 333, 0));
        assert_eq!(percent(i64::MAX, 10_000), i64::MAX);
    }
}
