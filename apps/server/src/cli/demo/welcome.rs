//! Landing page text for visitors of the demo.

use kontor_html::{escape, rows};

use super::{DemoFile, tour};

/// Returns the credentials, the sandbox links and the tour as markup.
pub fn welcome(file: &DemoFile) -> String {
    let credentials = [
        (file.app_token.as_str(), "App Token, the header Token of every call of the client surface"),
        (&file.customer.phone, "Phone of a customer; the code of their login is in the mailbox"),
        (&file.staff.login, "Login of an employee with every permission"),
        (&file.staff.password, "Their password"),
    ];
    let sandbox = escape(&file.sandbox_url);
    format!(
        "<h2>This is a demo</h2><p>Its outside world is a <a href=\"{sandbox}/\">sandbox</a>: payments, calls, SMS and e-mails go \
         there and nowhere else. The <a href=\"{sandbox}/mailbox\">mailbox</a> shows every code.</p>\
         <h2>Credentials</h2><table>{}</table>\
         <h2>Tour</h2><p>Paste it into a terminal, line by line or all at once.</p><pre tabindex=\"0\">{}</pre>",
        rows(credentials),
        escape(&tour(file))
    )
}
