// Written by generate.py from docs/openapi.json.

//! Types and operations of the API.

mod client_catalog;
mod client_catalog_types;
mod client_content;
mod client_content_types;
mod client_dictionaries;
mod client_dictionaries_types;
mod client_notifications;
mod client_notifications_types;
mod client_orders;
mod client_orders_types;
mod client_profile;
mod client_profile_types;
mod client_session_and_login;
mod client_session_and_login_types;
mod client_settings;
mod client_settings_types;
mod client_subscriptions;
mod client_subscriptions_types;
mod common;
mod platform_catalog;
mod platform_catalog_types;
mod platform_catalog_types_2;
mod platform_orders;
mod platform_orders_types;
mod platform_orders_types_2;
mod platform_staff_login_and_current_user;
mod platform_staff_login_and_current_user_types;
mod platform_stock;
mod platform_stock_types;

pub use self::client_catalog_types::*;
pub use self::client_content_types::*;
pub use self::client_dictionaries_types::*;
pub use self::client_notifications_types::*;
pub use self::client_orders_types::*;
pub use self::client_profile_types::*;
pub use self::client_session_and_login_types::*;
pub use self::client_settings_types::*;
pub use self::client_subscriptions_types::*;
pub use self::common::*;
pub use self::platform_catalog_types::*;
pub use self::platform_catalog_types_2::*;
pub use self::platform_orders_types::*;
pub use self::platform_orders_types_2::*;
pub use self::platform_staff_login_and_current_user_types::*;
pub use self::platform_stock_types::*;
