// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, Method, PlatformSurface};

impl PlatformSurface {
    /// Log in an employee.
    ///
    /// Accepts the password or a temporary password. A temporary password becomes the new password and revokes all
    /// tokens of the employee.
    ///
    /// Rate limits:
    ///
    /// - per IP address and login: 5 a minute and 60 an hour;
    /// - per IP address: 30 a minute;
    /// - from IP addresses without a login of this employee in the last 30 days: 200 a day per IP address and login,
    ///   and 100 a minute per login.
    ///
    /// `POST /api/login`
    pub fn log_in(&self, body: &StaffLogin) -> Call<SignedInUser> {
        self.call(Method::POST, "/api/login").json(body)
    }

    /// Send a temporary password.
    ///
    /// The password is sent to the employee's e-mail address. The response is the same for unknown logins. The current
    /// password stays valid until the temporary password is used, which then replaces it.
    ///
    /// Rate limits: 3 requests an hour per login, 20 an hour per IP address.
    ///
    /// `POST /api/send_password`
    pub fn send_password(&self, body: &PasswordRequest) -> Call<Message> {
        self.call(Method::POST, "/api/send_password").json(body)
    }

    /// Get the current employee.
    ///
    /// Includes the employee's permissions.
    ///
    /// `GET /api/user`
    pub fn show_current_user(&self) -> Call<CurrentUser> {
        self.call(Method::GET, "/api/user")
    }

    /// Log out the employee.
    ///
    /// Ends the login on this device, or on all devices with `from_all_devices`.
    ///
    /// `POST /api/user/logout`
    pub fn log_out(&self, body: &Logout) -> Call<Message> {
        self.call(Method::POST, "/api/user/logout").json(body)
    }
}
