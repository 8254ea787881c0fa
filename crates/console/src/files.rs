//! Files of the console, compiled in, with their compressed form.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::LazyLock;

use actix_web::web;
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{Context, SHA256};

/// Number of hexadecimal digits of the content hash in addresses.
pub(crate) const HASH_LENGTH: usize = 16;

/// Text in `index.html` that the content hash replaces.
const PLACE: &str = "/HASH/";

macro_rules! files {
    ($($name:literal,)*) => {
        /// Names below `static/` and contents, sorted by name.
        static FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../static/", $name)))),*];
    };
}

files! {
    "app.css",
    "app.js",
    "data.css",
    "i18n/en/access.json",
    "i18n/en/calls.json",
    "i18n/en/content.json",
    "i18n/en/customers.json",
    "i18n/en/goods.json",
    "i18n/en/orders.json",
    "i18n/en/sales.json",
    "i18n/en/settings.json",
    "i18n/en/shell.json",
    "i18n/ru/access.json",
    "i18n/ru/calls.json",
    "i18n/ru/content.json",
    "i18n/ru/customers.json",
    "i18n/ru/goods.json",
    "i18n/ru/orders.json",
    "i18n/ru/sales.json",
    "i18n/ru/settings.json",
    "i18n/ru/shell.json",
    "icon.svg",
    "index.html",
    "lib/api.js",
    "lib/calls.js",
    "lib/chart.js",
    "lib/dialog.js",
    "lib/drop.js",
    "lib/fields.js",
    "lib/form.js",
    "lib/format.js",
    "lib/history.js",
    "lib/html-field.js",
    "lib/html.js",
    "lib/i18n.js",
    "lib/icons.js",
    "lib/keys.js",
    "lib/list.js",
    "lib/load.js",
    "lib/merge.js",
    "lib/palette.js",
    "lib/permissions.js",
    "lib/picker.js",
    "lib/record.js",
    "lib/router.js",
    "lib/sections.js",
    "lib/session.js",
    "lib/shell.js",
    "lib/shortcuts.js",
    "lib/sign-in.js",
    "lib/table-bulk.js",
    "lib/table-filters.js",
    "lib/table-state.js",
    "lib/table.js",
    "lib/tables.js",
    "lib/tree.js",
    "lib/ui.js",
    "screens/agent-action.js",
    "screens/agent-actions.js",
    "screens/agent-policy.js",
    "screens/agent.js",
    "screens/agents.js",
    "screens/applications.js",
    "screens/approval.js",
    "screens/approvals.js",
    "screens/branches.js",
    "screens/brands.js",
    "screens/categories.js",
    "screens/content-trees.js",
    "screens/customer.js",
    "screens/customers.js",
    "screens/departments.js",
    "screens/discounts.js",
    "screens/employees.js",
    "screens/files.js",
    "screens/import-rows.js",
    "screens/import.js",
    "screens/integrations.js",
    "screens/item.js",
    "screens/items.js",
    "screens/job.js",
    "screens/order-files.js",
    "screens/order-lines.js",
    "screens/order-money.js",
    "screens/order-moves.js",
    "screens/order-new.js",
    "screens/order-print.js",
    "screens/order.js",
    "screens/orders.js",
    "screens/pages.js",
    "screens/payment-types.js",
    "screens/plans.js",
    "screens/price-change.js",
    "screens/project.js",
    "screens/promotions.js",
    "screens/reports.js",
    "screens/roles.js",
    "screens/shops.js",
    "screens/slides.js",
    "screens/stock-correct.js",
    "screens/stock-item.js",
    "screens/stock.js",
    "screens/subscription.js",
    "screens/subscriptions.js",
    "screens/task.js",
    "screens/tasks.js",
    "screens/today.js",
    "screens/warehouses.js",
    "screens/webhooks.js",
    "vendor/LICENSE-htm",
    "vendor/LICENSE-preact",
    "vendor/htm-preact.js",
    "vendor/vendor.sha256",
}

/// A file as it is served.
pub(crate) struct File {
    name: &'static str,
    pub(crate) media: &'static str,
    pub(crate) plain: Cow<'static, [u8]>,
    /// Compressed content, unless compression does not make it smaller.
    pub(crate) gzip: Option<web::Bytes>,
}

struct Site {
    hash: String,
    page: File,
    files: Vec<File>,
}

static SITE: LazyLock<Site> = LazyLock::new(|| {
    let hash = hash();
    let index = FILES.iter().find(|(name, _)| *name == "index.html").map_or(&[][..], |(_, content)| content);
    let page = String::from_utf8_lossy(index).replace(PLACE, &format!("/{hash}/"));
    Site {
        page: File::new("index.html", Cow::Owned(page.into_bytes())),
        files: FILES.iter().map(|(name, content)| File::new(name, Cow::Borrowed(content))).collect(),
        hash,
    }
});

/// Returns the hash over the names and contents of all files, as it is in their addresses.
pub fn content_hash() -> &'static str {
    &SITE.hash
}

/// Returns the page with the addresses of this version.
pub(crate) fn page() -> &'static File {
    &SITE.page
}

pub(crate) fn find(name: &str) -> Option<&'static File> {
    SITE.files.iter().find(|file| file.name == name)
}

impl File {
    fn new(name: &'static str, plain: Cow<'static, [u8]>) -> Self {
        let gzip = compress(&plain).filter(|zipped| zipped.len() < plain.len()).map(web::Bytes::from);
        Self { name, media: media(name), plain, gzip }
    }
}

fn compress(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

fn media(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

fn hash() -> String {
    let mut context = Context::new(&SHA256);
    for (name, content) in FILES {
        context.update(name.as_bytes());
        context.update(b"\0");
        context.update(content);
        context.update(b"\0");
    }
    let digest = context.finish();
    hex(digest.as_ref()).chars().take(HASH_LENGTH).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use ring::digest::digest;

    use super::*;

    fn listed(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { listed(&path, found) } else { found.push(path) }
        }
    }

    fn on_disk() -> BTreeMap<String, Vec<u8>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("static");
        let mut found = Vec::new();
        listed(&root, &mut found);
        let name = |path: &Path| path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        found.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
    }

    fn is_own_script(name: &str) -> bool {
        media(name).starts_with("text/javascript") && !name.starts_with("vendor/")
    }

    #[test]
    fn the_table_is_the_folder() {
        let compiled: BTreeMap<String, Vec<u8>> =
            FILES.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect();
        let disk = on_disk();
        assert_eq!(compiled.keys().collect::<Vec<_>>(), disk.keys().collect::<Vec<_>>());
        assert_eq!(compiled, disk);
        assert!(FILES.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn vendored_files_are_the_published_ones() {
        let disk = on_disk();
        let sums = String::from_utf8(disk["vendor/vendor.sha256"].clone()).unwrap();
        let known: BTreeMap<&str, &str> =
            sums.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum)).collect();
        let vendored: Vec<&str> = disk
            .keys()
            .filter_map(|name| name.strip_prefix("vendor/"))
            .filter(|name| *name != "vendor.sha256")
            .collect();
        assert_eq!(known.keys().copied().collect::<Vec<_>>(), vendored);
        for (name, sum) in known {
            let actual = hex(digest(&SHA256, &disk[&format!("vendor/{name}")]).as_ref());
            assert_eq!(actual, sum, "{name}");
        }
    }

    #[test]
    fn own_scripts_stay_small() {
        let disk = on_disk();
        let own = disk.iter().filter(|(name, _)| is_own_script(name));
        let mut total = 0;
        for (name, content) in own {
            let lines = content.split(|byte| *byte == b'\n').count() - 1;
            assert!((30..=600).contains(&lines), "{name} has {lines} lines");
            total += lines;
        }
        assert!(total <= 9000, "{total} lines");
    }

    #[test]
    fn scripts_have_no_way_to_write_markup() {
        for (name, content) in on_disk().iter().filter(|(name, _)| is_own_script(name)) {
            let text = String::from_utf8(content.clone()).unwrap();
            for word in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"]
            {
                assert!(!text.contains(word), "{name}: {word}");
            }
        }
    }
}
