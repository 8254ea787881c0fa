//! Subscriptions from the first checkout on, on both databases.

mod club;
mod lifecycle;
mod races;
