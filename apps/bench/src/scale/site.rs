//! Response times for readers and editors when a project has a hundred times the content pages.

use super::{Filled, GROWTH, KINDS, MORE, Sizes, compare, encoded};
use crate::Failure;
use crate::load::{Request, RunLengths, Target};
use crate::report::{Goal, Report};
use crate::shop::Shop;
use crate::site::{self, Text};

/// Divisor of the catalog sizes: pages are written one by one through the API, as staff write them.
const PAGES_PER_ITEM: usize = 10;

/// Content pages of a project, and the header `Authorization` of its owner.
struct Pages {
    bearer: String,
    size: usize,
}

fn fill(shop: &Shop, items: usize) -> Result<Pages, Failure> {
    let (bearer, size) = (shop.owner()?, items / PAGES_PER_ITEM);
    site::write_pages(shop, &bearer, size)?;
    Ok(Pages { bearer, size })
}

type Site = Filled<Pages>;

impl Site {
    /// Creates a request for each of some pages, spread over all of them.
    fn each(&self, surface: Surface, path: impl Fn(&Text) -> String) -> Target {
        let step = (self.data.size / KINDS).max(1);
        let header = match surface {
            Surface::Client => ("Token", self.shop.project.app_token.as_str()),
            Surface::Platform => ("Authorization", self.data.bearer.as_str()),
        };
        let requests = (0..self.data.size)
            .step_by(step)
            .map(|place| Request::new("GET", &path(&Text::at(place)), &[header], ""))
            .collect();
        Target { address: self.shop.address, expected: 200, requests, once: false }
    }
}

/// API surface of a request.
#[derive(Clone, Copy)]
enum Surface {
    Client,
    Platform,
}

type Asked = (&'static str, Surface, f64, fn(&Text) -> String);

const ASKED: [Asked; 9] = [
    ("pages, newest", Surface::Client, GROWTH, |_| "/api/counterparty/pages".to_owned()),
    ("pages of a type", Surface::Client, GROWTH, |_| "/api/counterparty/pages?page_type_id=1".to_owned()),
    ("pages, most read", Surface::Client, GROWTH, |_| "/api/counterparty/pages?order_by=popularity_desc".to_owned()),
    ("page", Surface::Client, GROWTH, |text| format!("/api/counterparty/pages/{}", text.slug())),
    ("search by a title", Surface::Client, MORE, |text| {
        format!("/api/counterparty/pages?query={}", encoded(&text.title()))
    }),
    ("search by a rare word and a common one", Surface::Client, MORE, |text| {
        format!("/api/counterparty/pages?query={}", encoded(&text.asked()))
    }),
    ("table of pages", Surface::Platform, GROWTH, |_| "/api/tables/pages".to_owned()),
    ("table of pages by title", Surface::Platform, GROWTH, |_| "/api/tables/pages?order_by=title_asc".to_owned()),
    ("table of pages, search by a title", Surface::Platform, MORE, |text| {
        format!("/api/tables/pages?query={}", encoded(&text.title()))
    }),
];

/// Measures both sizes in alternation.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    let sizes = if lengths.is_quick() { Sizes::QUICK } else { Sizes::FULL };
    let small = Site::open("small_site", server, |shop| fill(shop, sizes.small))?;
    let large = Site::open("large_site", server, |shop| fill(shop, sizes.large))?;
    for (name, surface, most, path) in ASKED {
        let at = |site: &Site| site.each(surface, path);
        let name = format!("{name}: {} by {}", large.data.size, small.data.size);
        report.add(compare(&sizes, name, Goal::AtMost(most), &at(&large), &at(&small))?);
    }
    Ok(())
}
