//! Subscriptions from the first checkout on, on both databases.

mod club;
mod forecasts;
mod lifecycle;
mod races;
