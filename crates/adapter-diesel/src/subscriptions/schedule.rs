//! Stored form of a billing schedule: a list of anchors.

use chrono::{DateTime, Utc};
use kontor_kernel::{StoreError, Zone};
use kontor_subscriptions::{Anchor, Schedule};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct StoredAnchor {
    from: u32,
    first: DateTime<Utc>,
    zone: String,
    months: u8,
    day: u8,
}

pub(super) fn to_text(schedule: &Schedule) -> Result<String, StoreError> {
    let stored = |(from, anchor): (u32, Anchor)| StoredAnchor {
        from,
        first: anchor.first(),
        zone: anchor.zone().name().to_owned(),
        months: anchor.months(),
        day: anchor.day(),
    };
    let anchors: Vec<StoredAnchor> = schedule.anchors().map(stored).collect();
    serde_json::to_string(&anchors).map_err(StoreError::corrupt)
}

pub(super) fn from_text(text: &str) -> Result<Schedule, StoreError> {
    let stored: Vec<StoredAnchor> = serde_json::from_str(text).map_err(StoreError::corrupt)?;
    let anchor = |stored: StoredAnchor| {
        let zone = Zone::parse(&stored.zone).map_err(StoreError::corrupt)?;
        let anchor = Anchor::on_day(stored.first, zone, stored.months, stored.day).map_err(StoreError::corrupt)?;
        Ok::<_, StoreError>((stored.from, anchor))
    };
    let anchors: Vec<_> = stored.into_iter().map(anchor).collect::<Result<_, _>>()?;
    Schedule::from_anchors(anchors).ok_or_else(|| StoreError::corrupt("the anchors of a subscription are out of order"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_reads_back() {
        let first = "2027-01-31T09:00:00Z".parse().unwrap();
        let schedule = Schedule::new(Anchor::new(first, Zone::default(), 1).unwrap()).on_day(3, 15).unwrap();
        assert_eq!(from_text(&to_text(&schedule).unwrap()).unwrap(), schedule);
        assert!(from_text("[]").is_err());
    }
}
