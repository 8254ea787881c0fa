//! Signed contacts of a messenger: published vectors, a table of valid and invalid contacts, and an independent
//! verifier.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod cases;
mod messenger;
mod peers;

use chrono::{DateTime, TimeDelta};
use kontor_auth::miniapp::{BotToken, ProofError};

use crate::cases::table;
use crate::messenger::{Messenger, TOKEN, verifier};

#[test]
fn the_messengers_own_signatures_are_accepted() {
    let now = DateTime::from_timestamp(1_771_409_719, 0).unwrap();
    let pairs = [
        ("auth_date", "1771409719"),
        ("chat", r#"{"id":12345,"type":"DIALOG"}"#),
        ("ip", "192.168.0.1"),
        ("query_id", "4c0ab423-342b-4e45-aea4-2747dbc500cd"),
        (
            "user",
            r#"{"id":67890,"first_name":"Max","last_name":"User","username":null,"language_code":"ru","photo_url":null}"#,
        ),
        ("hash", "978b215ffc2232c8a8e4cd51e1a1e038c6e5e02d12f85945305c3a511e37bc0d"),
    ];
    let contact = messenger::Contact {
        phone: "+79001234567".to_owned(),
        auth_date: "1771409719".to_owned(),
        hash: "71f79c052f64723ab3a97db0dba007372584d8756242c5d6d2855e96d13d3db7".to_owned(),
        init_data: messenger::encode(&pairs),
    };
    let bot = BotToken::parse(TOKEN).unwrap();
    for phone in ["+79001234567", "79001234567"] {
        let spelled = messenger::Contact { phone: phone.to_owned(), ..contact.clone() };
        assert_eq!(verifier().verify(&spelled.parsed(), &bot, now), Ok(()), "{phone}");
    }
    let other = BotToken::parse("12345:test-bot-tokem").unwrap();
    assert_eq!(verifier().verify(&contact.parsed(), &other, now), Err(ProofError::InitDataSignature));
    // The same digits in another spelling do not match the signature.
    let spelled = messenger::Contact { phone: "+7 900 123-45-67".to_owned(), ..contact };
    assert_eq!(verifier().verify(&spelled.parsed(), &bot, now), Err(ProofError::ContactSignature));
}

#[test]
fn every_case_of_the_table_is_judged_right() {
    let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
    let bot = BotToken::parse(TOKEN).unwrap();
    for case in table(now) {
        assert_eq!(verifier().verify(&case.contact.parsed(), &bot, now), case.verdict, "{}", case.name);
    }
}

#[test]
fn the_table_judges_every_reason() {
    let reasons: Vec<_> =
        table(DateTime::UNIX_EPOCH + TimeDelta::days(9)).into_iter().map(|case| case.verdict).collect();
    for doubt in [
        ProofError::InitData,
        ProofError::InitDataSignature,
        ProofError::NoUser,
        ProofError::ContactSignature,
        ProofError::Age,
    ] {
        assert!(reasons.contains(&Err(doubt)), "{doubt}");
    }
}

#[test]
fn no_changed_byte_passes() {
    let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
    let bot = BotToken::parse(TOKEN).unwrap();
    let good = Messenger::at(now).contact("79001234567");
    let init_data = good.init_data.as_bytes();
    for at in 0..init_data.len() {
        for flip in [1, 2, 4] {
            let mut changed = init_data.to_vec();
            changed[at] ^= flip;
            let Ok(text) = String::from_utf8(changed) else { continue };
            let Some(contact) = (messenger::Contact { init_data: text, ..good.clone() }).try_parsed() else { continue };
            assert!(verifier().verify(&contact, &bot, now).is_err(), "{}", contact.init_data.as_str());
        }
    }
}
