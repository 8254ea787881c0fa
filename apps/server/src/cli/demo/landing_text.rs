//! Landing page text for visitors of the demo.

use kontor_html::{escape, rows};

use super::{DemoFile, tour};

/// Returns the credentials, the sandbox links and the tour as markup.
pub fn welcome(file: &DemoFile) -> String {
    let credentials = [
        (file.app_token.as_str(), "Application token: the `Token` header of every client request"),
        (&file.customer.phone, "Phone of a customer; the mailbox shows the login code"),
        (&file.staff.login, "Login of an employee with all permissions"),
        (&file.staff.password, "Password of the employee"),
    ];
    let sandbox = escape(&file.sandbox_url);
    format!(
        "<h2>Demo</h2><p>A <a href=\"{sandbox}/\">sandbox</a> emulates all providers: payments, calls, SMS and e-mails do \
         not leave it. The <a href=\"{sandbox}/mailbox\">mailbox</a> shows every code.</p>\
         <h2>Credentials</h2><table>{}</table>\
         <h2>Tour</h2><p>Paste the commands into a terminal, one by one or all at once.</p><pre tabindex=\"0\">{}</pre>",
        rows(credentials),
        escape(&tour(file))
    )
}
