//! Valid and invalid contacts.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_auth::miniapp::ProofError;

use crate::messenger::{Contact, Messenger, USER, encode};

/// Contact with the expected result.
pub struct Case {
    pub name: &'static str,
    pub contact: Contact,
    pub verdict: Result<(), ProofError>,
    /// `true` if the independent verifier checks the case too. It does not check the age of contacts, accepts lower
    /// case only, and reads the last of two equal keys.
    pub compared: bool,
}

const PHONE: &str = "79001234567";

/// Returns all cases, relative to the current time.
pub fn table(now: DateTime<Utc>) -> Vec<Case> {
    let messenger = Messenger::at(now);
    let good = messenger.contact(PHONE);
    let (old, early) = (now - TimeDelta::seconds(3_601), now + TimeDelta::seconds(120));
    let all = |name, contact: &Contact, verdict| Case { name, contact: contact.clone(), verdict, compared: true };
    let ours = |name, contact: &Contact, verdict| Case { name, contact: contact.clone(), verdict, compared: false };
    let started = |init_data: String| Contact { init_data, ..good.clone() };
    let by = |messenger: Messenger| messenger.contact(PHONE);
    let at = messenger.started_at.timestamp().to_string();
    let pairs = [("auth_date", at.as_str()), ("user", USER)];
    let hash = messenger.sign(&pairs);

    let mut cases = accepted(&messenger, now);
    cases.extend([
        all(
            "another bot",
            &by(Messenger { token: "12345:other", ..messenger.clone() }),
            Err(ProofError::InitDataSignature),
        ),
        all(
            "another user's contact",
            &by(Messenger { user_id: "67891", ..messenger.clone() }),
            Err(ProofError::ContactSignature),
        ),
        all(
            "another phone",
            &Contact { phone: "79001234568".to_owned(), ..good.clone() },
            Err(ProofError::ContactSignature),
        ),
        all(
            "the signed phone in another spelling",
            &Contact { phone: "+7 900 123-45-67".to_owned(), ..good.clone() },
            Err(ProofError::ContactSignature),
        ),
        all("another time", &Contact { auth_date: at.clone(), ..good.clone() }, Err(ProofError::ContactSignature)),
        all("a hash of zeros", &Contact { hash: "0".repeat(64), ..good.clone() }, Err(ProofError::ContactSignature)),
        all(
            "the other signature",
            &Contact { hash: hash.clone(), ..started(messenger.start(&pairs)) },
            Err(ProofError::ContactSignature),
        ),
        all("a changed user", &started(good.init_data.replace("67890", "67891")), Err(ProofError::InitDataSignature)),
        all("a pair more", &started(format!("{}&a=b", good.init_data)), Err(ProofError::InitDataSignature)),
        all("a start encoded twice", &started(good.init_data.replace('%', "%25")), Err(ProofError::InitDataSignature)),
        all("no hash", &started(encode(&pairs)), Err(ProofError::InitData)),
        all("no pairs", &started("anything".to_owned()), Err(ProofError::InitData)),
        all("no user", &started(messenger.start(&pairs[..1])), Err(ProofError::NoUser)),
        all(
            "a user that is no JSON",
            &started(messenger.start(&[pairs[0], ("user", "67890")])),
            Err(ProofError::NoUser),
        ),
        all("no time", &started(messenger.start(&pairs[1..])), Err(ProofError::NoUser)),
        all(
            "a time that is none",
            &started(messenger.start(&[("auth_date", "now"), pairs[1]])),
            Err(ProofError::NoUser),
        ),
        all("an old start", &by(Messenger { started_at: old, ..messenger.clone() }), Err(ProofError::Age)),
        ours("an old contact", &by(Messenger { signed_at: old, ..messenger.clone() }), Err(ProofError::Age)),
        ours("a start in the future", &by(Messenger { started_at: early, ..messenger.clone() }), Err(ProofError::Age)),
        ours("a contact in the future", &by(Messenger { signed_at: early, ..messenger.clone() }), Err(ProofError::Age)),
        ours("two hashes", &started(format!("hash={hash}&{}", messenger.start(&pairs))), Err(ProofError::InitData)),
        ours("encoding that is none", &started(format!("{}&a=%zz", good.init_data)), Err(ProofError::InitData)),
    ]);
    cases
}

fn accepted(messenger: &Messenger, now: DateTime<Utc>) -> Vec<Case> {
    let good = messenger.contact(PHONE);
    let case = |name, contact, compared| Case { name, contact, verdict: Ok(()), compared };
    let seconds = messenger.signed_at.timestamp();
    let edge =
        Messenger { signed_at: now - TimeDelta::hours(1), started_at: now - TimeDelta::hours(1), ..messenger.clone() };
    let at = messenger.started_at.timestamp().to_string();
    let pairs = [("auth_date", at.as_str()), ("start_param", "a b"), ("user", USER)];
    let with_plus = messenger.start(&pairs).replace("a%20b", "a+b");
    let pair_order: Vec<&str> = good.init_data.rsplit('&').collect();
    vec![
        case("seconds", good.clone(), true),
        case("milliseconds", messenger.contact_at(PHONE, format!("{seconds}123")), true),
        case("microseconds", messenger.contact_at(PHONE, format!("{seconds}123456")), true),
        case("a plus that was not signed", Contact { phone: format!("+{PHONE}"), ..good.clone() }, true),
        case("a spelling that was signed", messenger.contact("7 (900) 123-45-67"), true),
        case("a spelling that was signed with its plus", messenger.contact("+7 900 123-45-67"), false),
        case("pairs in another order", Contact { init_data: pair_order.join("&"), ..good.clone() }, true),
        case("a space written as plus", Contact { init_data: with_plus, ..good.clone() }, true),
        case("capitals", Contact { hash: good.hash.to_uppercase(), ..good }, false),
        case("exactly an hour old", edge.contact(PHONE), false),
    ]
}
