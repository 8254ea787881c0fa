//! Subscriptions from the first checkout on, on both databases.

mod club;
mod desk;
mod forecasts;
mod lifecycle;
mod races;
mod years;
