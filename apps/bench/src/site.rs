//! Content besides the catalog: content pages, blocks, a menu and shops, written through the API as staff write them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Failure;
use crate::catalogue::TestRng;
use crate::load::{self, Request, RunLengths, Target};
use crate::report::{Goal, Report};
use crate::shop::Shop;
use crate::storefront::beside;

/// Number of content pages whose responses are measured.
const PAGES: usize = 200;
/// Number of blocks without a parent, and of those below each.
const BLOCKS: usize = 10;
/// Number of menu items, and of those below each.
const ITEMS: usize = 7;
/// Number of shops of the project.
const SHOPS: usize = 20;
/// Number of different words in pages.
const VOCABULARY: usize = 20_000;
/// Timeout, far longer than any of the writes takes.
const TIMEOUT: Duration = Duration::from_hours(1);

/// A generated content page, the same every time.
pub struct Text {
    place: usize,
}

impl Text {
    /// Returns the page at this position, from 0.
    pub fn at(place: usize) -> Self {
        Self { place }
    }

    pub fn slug(&self) -> String {
        format!("page-{}", self.place)
    }

    /// Returns the title, four random words.
    pub fn title(&self) -> String {
        let mut rng = TestRng::new(40_009 + self.place);
        sentence(&mut rng, 4)
    }

    /// Returns a search text: a rare word of the title and a common word of the text.
    pub fn asked(&self) -> String {
        let title = self.title();
        let rarest = title.split(' ').max_by_key(|word| word.len()).unwrap_or_default();
        format!("{rarest} {}", word(0))
    }

    fn body(&self) -> Value {
        let mut rng = TestRng::new(90_001 + self.place);
        let paragraphs: Vec<String> = (0..6).map(|_| sentence(&mut rng, 20)).collect();
        let content = format!("<p>{}.</p>", paragraphs.join(".</p><p>"));
        json!({
            "title": self.title(),
            "slug": self.slug(),
            "description": sentence(&mut rng, 10),
            "content": content,
            "page_type_id": 1 + self.place % 2,
        })
    }
}

/// Returns random words, the common ones far more often than the others.
fn sentence(rng: &mut TestRng, words: usize) -> String {
    let mut place = || [VOCABULARY; 3].into_iter().fold(VOCABULARY, |below, _| rng.below(below.max(1)));
    (0..words).map(|_| word(place())).collect::<Vec<_>>().join(" ")
}

/// Returns the word of this rank; common words are short.
fn word(rank: usize) -> String {
    const CONSONANTS: [char; 20] =
        ['т', 'н', 'с', 'л', 'в', 'р', 'к', 'м', 'д', 'п', 'г', 'б', 'з', 'ч', 'ж', 'ш', 'х', 'ц', 'щ', 'ф'];
    const VOWELS: [char; 6] = ['о', 'а', 'е', 'и', 'у', 'я'];
    let letter = |of: &[char], at: usize| of.get(at % of.len()).copied().unwrap_or_default();
    let mut word = String::new();
    let mut rest = rank;
    while word.is_empty() || rest > 0 {
        word.push(letter(&CONSONANTS, rest));
        word.push(letter(&VOWELS, rest / CONSONANTS.len()));
        rest /= CONSONANTS.len() * VOWELS.len();
    }
    word
}

/// Sends the requests of staff, and fails at the first refusal.
fn write(shop: &Shop, bearer: &str, path: &str, bodies: impl Iterator<Item = Value>) -> Result<(), Failure> {
    let headers = [("Authorization", bearer)];
    let requests: Vec<Request> = bodies.map(|body| Request::new("POST", path, &headers, &body.to_string())).collect();
    let wanted = requests.len();
    let target = Target { address: shop.address, expected: 201, requests: requests.into(), once: true };
    let (_, answers) = load::answers(&target, RunLengths::FULL.connections, 1, TIMEOUT)?;
    if answers.len() == wanted { Ok(()) } else { Err(format!("{} of {wanted} were written", answers.len()).into()) }
}

/// Writes this many pages.
pub fn write_pages(shop: &Shop, bearer: &str, count: usize) -> Result<(), Failure> {
    write(shop, bearer, "/api/pages", (0..count).map(|place| Text::at(place).body()))
}

/// Returns the identifiers of the rows of a table, ascending.
fn numbers(shop: &Shop, table: &str) -> Result<Vec<i64>, Failure> {
    shop.numbers(format!("SELECT id AS number FROM {table} WHERE project_id = {} ORDER BY id", shop.project.project_id))
}

/// Returns the codes of the blocks without a parent.
fn fronts() -> impl Iterator<Item = usize> {
    (1..=BLOCKS).map(|block| block * 100)
}

fn fill_catalog(shop: &Shop) -> Result<(), Failure> {
    let bearer = shop.owner()?;
    write_pages(shop, &bearer, PAGES)?;
    let application = shop.project.application_id;
    let text = |seed: usize| sentence(&mut TestRng::new(seed), 30);
    let block = |code: usize, parent: Option<i64>| {
        json!({
            "code": code,
            "name": format!("Block {code}"),
            "block_type_id": 2,
            "parent_id": parent,
            "link": "/tea",
            "text": text(code),
        })
    };
    let blocks = format!("/api/applications/{application}/blocks");
    write(shop, &bearer, &blocks, fronts().map(|code| block(code, None)))?;
    let parents = numbers(shop, "blocks")?;
    let children = parents
        .iter()
        .zip(fronts())
        .flat_map(|(parent, code)| (1..=BLOCKS).map(move |child| (code + child, Some(*parent))));
    write(shop, &bearer, &blocks, children.map(|(code, parent)| block(code, parent)))?;

    let items = format!("/api/applications/{application}/menu_items");
    let item = |code: usize, slug: String, parent: Option<i64>| json!({ "code": code, "name": format!("Item {code}"), "slug": slug, "parent_id": parent });
    write(shop, &bearer, &items, std::iter::once(item(1_000, "navpanel".to_owned(), None)))?;
    for level in 1..=2 {
        let above = numbers(shop, "menu_items")?;
        let above = above.into_iter().skip(level - 1);
        let below = above.flat_map(|parent| (0..ITEMS).map(move |_| parent)).zip(level * 1_000 + 1..);
        write(shop, &bearer, &items, below.map(|(parent, code)| item(code, format!("item-{code}"), Some(parent))))?;
    }

    let branch = shop.project.branch_id;
    let outlet = |number: usize| {
        json!({
            "name": format!("Shop {number}"),
            "address": format!("Elbe Street {number}"),
            "branch_id": branch,
            "phone": format!("+7 900 111-22-{number:02}"),
            "time_zone": "Europe/Moscow",
        })
    };
    write(shop, &bearer, "/api/shops", (1..=SHOPS).map(outlet))
}

/// Measures customers' reads, each beside a bare server that answers with as many bytes.
pub fn measure(shop: &Shop, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    fill_catalog(shop)?;
    let get = |path: String| {
        Request::new("GET", &format!("/api/counterparty/{path}"), &[("Token", shop.project.app_token.as_str())], "")
    };
    let shops = numbers(shop, "shops")?;
    let kinds: [(&str, Arc<[Request]>); 6] = [
        ("pages, 20 of a type", (1..=2).map(|kind| get(format!("pages?page_type_id={kind}&per_page=20"))).collect()),
        ("page", (0..PAGES).map(|place| get(format!("pages/{}", Text::at(place).slug()))).collect()),
        ("block with its tree", fronts().map(|code| get(format!("blocks/{code}"))).collect()),
        ("menu", std::iter::once(get("menus".to_owned())).collect()),
        ("shops", std::iter::once(get("shops".to_owned())).collect()),
        ("shop", shops.iter().map(|shop| get(format!("shops/{shop}"))).collect()),
    ];
    let remembering = shop.remembering()?;
    for (address, name, goal) in [(shop.address, "", 0.12), (remembering.address, "hot ", 0.5)] {
        for (what, requests) in &kinds {
            let target = Target { address, expected: 200, requests: requests.clone(), once: false };
            report.add(beside(shop, lengths, &format!("{name}{what}"), Goal::AtLeast(goal), target)?);
        }
    }
    remembering.close(shop);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ_and_common_ones_are_short() {
        let words: std::collections::HashSet<String> = (0..VOCABULARY).map(word).collect();
        assert_eq!(words.len(), VOCABULARY);
        assert_eq!(word(0).chars().count(), 2);
        assert_eq!(Text::at(7).title().split(' ').count(), 4);
    }
}
