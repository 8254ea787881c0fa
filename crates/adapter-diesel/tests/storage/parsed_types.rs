//! Every type parsed from text accepts its own output: a stored value that its type refuses is a broken record.

use diesel::RunQueryDsl;
use diesel::sql_types::Text;
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_auth::model::{Audience, CallbackNumber, Device, Login, PermissionName, Reason};
use kontor_catalog::model::{PlanSlug, ShareLink};
use kontor_content::model::{MediaType, Sha256, SlideLink, Slug};
use kontor_customers::model::{ContactDraft, ContactKind, CustomerContact, CustomerRecordPart};
use kontor_kernel::*;
use kontor_orders::tickets::{ScanId, TicketReference};
use kontor_organization::model::{Latitude, Longitude, TimeOfDay};
use kontor_payments::model::ProviderId;
use kontor_webhooks::model::EndpointUrl;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Value that a type keeps of a text; `None` when it refuses the text.
type Parse = fn(&str) -> Option<String>;

/// A parsed type: its name, its parser, and accepted texts.
struct Parsed {
    name: &'static str,
    parse: Parse,
    good: &'static [&'static str],
}

macro_rules! parsed {
    ($($name:literal: |$text:ident| $kept:expr, $good:expr;)+) => {
        [$(Parsed { name: $name, parse: |$text| $kept, good: &$good }),+]
    };
}

const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const KEY: &str = "aZ09aZ09aZ09aZ09aZ09aZ09aZ09aZ09aZ09aZ09";

fn contact(kind: ContactKind, text: &str) -> Option<String> {
    let draft = ContactDraft { kind, value: Name::parse(text).ok()?, name: None, comment: None };
    Some(CustomerContact::checked(draft).ok()?.value.to_string())
}

fn types() -> Vec<Parsed> {
    Vec::from(parsed! {
        "Name": |text| Name::parse(text).ok().map(|it| it.to_string()), ["Nord", " Gr\u{f6}\u{df}e "];
        "Name of a string": |text| Name::from_string(text.to_owned()).ok().map(|it| it.to_string()), ["Nord", " a "];
        "Line<20>": |text| Line::<20>::parse(text).ok().map(|it| it.to_string()), ["A-1"];
        "Prose": |text| Prose::parse(text).ok().map(|it| it.as_str().to_owned()), [" <b>a</b>\n"];
        "Email": |text| Email::parse(text).ok().map(|it| it.to_string()), ["Anna@Example.COM", "\u{418}\u{412}@\u{43f}.\u{440}\u{444}"];
        "Phone": |text| Phone::parse(text).ok().map(|it| it.to_string()), ["+7 (900) 123-45-67"];
        "Contact": |text| Contact::parse(text).ok().map(|it| it.to_string()), ["8 900 123 45 67", "Anna@x.ru"];
        "PhotoUrl": |text| PhotoUrl::parse(text).ok().map(|it| it.to_string()), [" HTTPS://a.example/\u{451}.png "];
        "PromoCode": |text| PromoCode::parse(text).ok().map(|it| it.to_string()), ["Spring-10"];
        "Inn": |text| Inn::parse(text).ok().map(|it| it.to_string()), ["7707083893", " 500100732259 "];
        "Kpp": |text| Kpp::parse(text).ok().map(|it| it.to_string()), ["7707AB001"];
        "Bik": |text| Bik::parse(text).ok().map(|it| it.to_string()), [" 044525225"];
        "BankAccount": |text| BankAccount::parse(text).ok().map(|it| it.to_string()), ["40702810900000000001"];
        "FileKey": |text| FileKey::parse(text).ok().map(|it| it.to_string()), [KEY];
        "Zone": |text| Zone::parse(text).ok().map(|it| it.name().to_owned()), ["Europe/Moscow"];
        "Money": |text| text.parse::<Money>().ok().map(|it| it.to_string()), [" +012.500 ", "0"];
        "Permission": |text| text.parse::<Permission>().ok().map(|it| it.to_string()), ["view-orders"];
        "Login": |text| Login::parse(text).ok().map(|it| it.to_string()), [" Boss "];
        "Device": |text| Device::parse(text).ok().map(|it| it.to_string()), ["iPhone"];
        "Audience": |text| Audience::parse(text).ok().map(|it| it.to_string()), ["Radio"];
        "CallbackNumber": |text| CallbackNumber::parse(text).ok().map(|it| it.to_string()), ["78005553535"];
        "PermissionName": |text| PermissionName::parse(text).ok().map(|it| it.to_string()), [" view-reports "];
        "Reason": |text| Reason::parse(text).ok().map(|it| it.as_str().to_owned()), ["why\nnot"];
        "PlanSlug": |text| PlanSlug::parse(text).ok().map(|it| it.as_str().to_owned()), ["gold-1"];
        "ShareLink": |text| ShareLink::parse(text).ok().map(|it| it.as_str().to_owned()), ["https://a/b"];
        "Link": |text| Link::parse(text).ok().map(|it| it.to_string()), ["/sale", " HTTPS://a ", "mailto:a@b.ru", "tel:+7 900"];
        "SlideLink": |text| SlideLink::parse(text).ok().map(|it| it.to_string()), ["/sale", " https://a "];
        "Slug": |text| Slug::parse(text).ok().map(|it| it.to_string()), [" about_us "];
        "Slug of a name": |text| Slug::parse(&Slug::of(text, "page")).ok().map(|it| it.to_string()), ["\u{429}\u{443}\u{43a}\u{430}"];
        "Sha256": |text| Sha256::parse(text).ok().map(|it| it.as_str().to_owned()), [HEX];
        "MediaType": |text| MediaType::parse(text).ok().map(|it| it.mime().to_owned()), ["image/png"];
        "ContactDraft, phone": |text| contact(ContactKind::Phone, text), ["8 900 123 45 67"];
        "ContactDraft, e-mail": |text| contact(ContactKind::Email, text), ["Anna@x.ru"];
        "ContactDraft, Telegram": |text| contact(ContactKind::Telegram, text), ["anna_kern", "@anna_kern"];
        "ContactDraft, website": |text| contact(ContactKind::Website, text), ["https://a.example"];
        "ScanId": |text| ScanId::parse(text).ok().map(|it| it.to_string()), ["gate-1/17"];
        "TicketReference": |text| TicketReference::parse(text).ok().map(|it| it.as_str().to_owned()), ["0123456789abcdefABCDEF"];
        "Latitude": |text| Latitude::parse(text).ok().map(|it| it.to_string()), [" -59.93 "];
        "Longitude": |text| Longitude::parse(text).ok().map(|it| it.to_string()), ["30.31"];
        "TimeOfDay": |text| TimeOfDay::parse(text).ok().map(|it| it.to_string()), [" 09:05 ", "24:00"];
        "ProviderId": |text| ProviderId::parse(text).ok().map(|it| it.as_str().to_owned()), ["2d-1_a"];
        "EndpointUrl": |text| EndpointUrl::parse(text).ok().map(|it| it.to_string()), ["HTTPS://Hooks.example:8443/a?b"];
    })
}

/// Letters whose case, count or bytes change; marks; white space of all kinds; characters with a meaning.
const PIECES: [&str; 36] = [
    "\u{130}",
    "\u{23a}",
    "\u{1e9e}",
    "\u{df}",
    "\u{3a3}",
    "\u{1c5}",
    "\u{149}",
    "\u{fb01}",
    "\u{307}",
    "\u{301}",
    "\u{451}",
    "A",
    "z",
    "0",
    "9",
    " ",
    "\u{a0}",
    "\u{2003}",
    "\u{200b}",
    "\u{feff}",
    "\t",
    "\n",
    "\r\n",
    "\u{85}",
    ".",
    ",",
    "-",
    "+",
    "@",
    "/",
    ":",
    "_",
    "%",
    "|",
    "\u{1f600}",
    "\u{10ffff}",
];

/// An accepted text with insertions, in several positions or many times.
fn texts(good: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = (prop::sample::select(PIECES.to_vec()), prop_oneof![4 => 1..3_usize, 1 => 3..130_usize], any::<u16>());
    let changed = (prop::sample::select(good.to_vec()), prop::collection::vec(piece, 0..4), any::<bool>());
    changed.prop_map(|(good, pieces, is_upper)| {
        let mut text: Vec<char> = if is_upper { good.to_uppercase() } else { good.to_owned() }.chars().collect();
        for (piece, times, place) in pieces {
            let place = usize::from(place) % (text.len() + 1);
            text.splice(place..place, piece.repeat(times).chars());
        }
        text.into_iter().collect()
    })
}

fn some_texts(good: &'static [&'static str]) -> Vec<String> {
    let (strategy, mut runner) = (texts(good), TestRunner::deterministic());
    let drawn = std::iter::repeat_with(|| strategy.new_tree(&mut runner).unwrap().current()).take(1_500);
    good.iter().map(|text| (*text).to_owned()).chain(drawn).collect()
}

#[test]
fn serialized_values_parse_to_the_same_value() {
    for Parsed { name, parse, good } in types() {
        assert!(good.iter().all(|text| parse(text).is_some()), "{name} takes its own examples");
        for text in some_texts(good) {
            if let Some(kept) = parse(&text) {
                assert_eq!(parse(&kept).as_deref(), Some(kept.as_str()), "{name}: {text:?}");
            }
        }
    }
}

#[derive(diesel::QueryableByName)]
struct Stored {
    #[diesel(sql_type = Text)]
    text: String,
}

database_tests! {
    async fn values_of_a_type_read_back_from_the_database(db: TestDatabase) {
        for Parsed { name, parse, good } in types() {
            let kept: Vec<String> = some_texts(good).iter().take(150).filter_map(|text| parse(text)).collect();
            let sent = kept.clone();
            let echo = db.database.read(move |connection| {
                let mut stored = Vec::new();
                for text in &sent {
                    let query = diesel::sql_query("SELECT CAST($1 AS TEXT) AS text").bind::<Text, _>(text);
                    stored.push(query.get_result::<Stored>(connection)?.text);
                }
                Ok::<_, Abort<StoreError>>(stored)
            });
            assert_eq!(echo.await.unwrap(), kept, "{name}");
        }
    }
}
