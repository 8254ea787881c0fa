//! Documents for agents, as Markdown: `/llms.txt`, the guides and the skill.

use actix_web::HttpResponse;
use actix_web::web::{self, ServiceConfig};

macro_rules! pages {
    ($($path:literal => $file:literal,)+) => {
        /// Address and text of every document.
        pub const PAGES: &[(&str, &str)] = &[$(($path, include_str!(concat!("../../../docs/", $file))),)+];
    };
}

pages! {
    "/llms.txt" => "agents/llms.txt",
    "/skills/kontor/SKILL.md" => "agents/SKILL.md",
    "/guides/agents.md" => "guides/agents.md",
    "/guides/idempotency.md" => "guides/idempotency.md",
    "/guides/orders.md" => "guides/orders.md",
    "/guides/receipts.md" => "guides/receipts.md",
    "/guides/preconditions.md" => "guides/preconditions.md",
    "/guides/subscriptions.md" => "guides/subscriptions.md",
    "/guides/synchronization.md" => "guides/synchronization.md",
    "/guides/webhooks.md" => "guides/webhooks.md",
}

/// Registers the documents.
pub fn routes(config: &mut ServiceConfig) {
    for (path, text) in PAGES {
        let show = move || async move { HttpResponse::Ok().content_type("text/markdown; charset=utf-8").body(*text) };
        config.route(path, web::get().to(show));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets of the Markdown links in a text.
    fn links(text: &str) -> impl Iterator<Item = &str> {
        text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
    }

    #[test]
    fn links_for_agents_resolve() {
        // The process serves the description.
        let elsewhere = ["/openapi.json"];
        let (mut seen, is_served) = (0, |path: &str| PAGES.iter().any(|(served, _)| *served == path));
        for (page, text) in PAGES.iter().filter(|(page, _)| !page.starts_with("/guides/")) {
            for link in links(text) {
                seen += 1;
                assert!(is_served(link) || elsewhere.contains(&link), "{page} leads to {link}");
            }
        }
        assert!(seen > 8, "{seen}");
        let mut guides = PAGES.iter().filter(|(page, _)| page.starts_with("/guides/"));
        let index = PAGES.iter().find(|(page, _)| *page == "/llms.txt").unwrap().1;
        assert!(guides.all(|(page, _)| index.contains(page)), "every guide is in the index");
    }
}
