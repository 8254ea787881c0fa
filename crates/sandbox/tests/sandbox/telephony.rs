//! The telephony provider.

use serde_json::{Value, json};

use crate::support::{Outside, outside, read};

const ID: (&str, &str) = ("api_id", "sandbox-api-id");

async fn form(outside: &Outside, path: &str, form: &[(&str, &str)]) -> Value {
    let (status, answer) = read(outside.http.post(outside.at(path)).form(form).send().await.unwrap()).await;
    assert_eq!(status, 200);
    answer
}

#[tokio::test]
async fn the_provider_chooses_the_code_of_a_call() {
    let outside = outside().await;
    let query = "/code/call?phone=%2B7+999+000-00-01&ip=127.0.0.1&api_id=sandbox-api-id&partner_id=1";
    let (_, by_get) = outside.get(query).await;
    let by_post = form(&outside, "/code/call", &[ID, ("phone", "89990000001"), ("ip", "-1")]).await;
    for answer in [&by_get, &by_post] {
        assert_eq!(answer["status"], "OK");
        assert_eq!(answer["code"].as_str().unwrap().len(), 4);
        assert!(answer["call_id"].is_string());
    }
    let messages = outside.messages("+7 (999) 000-00-01").await;
    assert_eq!(messages.len(), 2);
    assert_eq!((&messages[0]["code"], &messages[1]["code"]), (&by_post["code"], &by_get["code"]));
    assert_eq!((&messages[0]["channel"], &messages[0]["to"]), (&json!("call"), &json!("79990000001")));
    assert_eq!(messages[0]["created_at"], "2031-05-06T07:08:09.000Z");
}

#[tokio::test]
async fn wrong_keys_and_phones_are_refused() {
    let outside = outside().await;
    let answer = form(&outside, "/code/call", &[("api_id", "x"), ("phone", "79990000001")]).await;
    assert_eq!((&answer["status"], &answer["status_code"]), (&json!("ERROR"), &json!(200)));
    for phone in ["", "123", "99990000001"] {
        let answer = form(&outside, "/code/call", &[ID, ("phone", phone)]).await;
        assert_eq!((&answer["status"], &answer["status_code"]), (&json!("ERROR"), &json!(202)), "{phone}");
    }
}

#[tokio::test]
async fn an_sms_reaches_each_number_on_its_own() {
    let outside = outside().await;
    let to = ("to", "79990000001,12");
    let answer = form(&outside, "/sms/send", &[ID, to, ("msg", "Код 1234"), ("json", "1"), ("partner_id", "7")]).await;
    assert_eq!((&answer["status"], &answer["status_code"]), (&json!("OK"), &json!(100)));
    assert_eq!(answer["sms"]["79990000001"]["status_code"], 100);
    assert!(answer["sms"]["79990000001"]["sms_id"].is_string());
    assert_eq!(answer["sms"]["12"]["status_code"], 202);
    let messages = outside.messages("89990000001").await;
    assert_eq!((&messages[0]["channel"], &messages[0]["code"]), (&json!("sms"), &json!("1234")));
    assert_eq!(messages[0]["text"], "Код 1234");

    let answer = form(&outside, "/sms/send", &[ID, ("to[79990000002]", "другому"), ("json", "1")]).await;
    assert_eq!(answer["sms"]["79990000002"]["status"], "OK");
    let lines = form(&outside, "/sms/send", &[ID, ("to", "79990000003"), ("msg", "x")]).await;
    assert!(lines.as_str().unwrap().starts_with("100\n000000-"));
    let refused = form(&outside, "/sms/send", &[("to", "79990000003"), ("msg", "x"), ("json", "1")]).await;
    assert_eq!(refused["status_code"], 200);
    let empty = form(&outside, "/sms/send", &[ID, ("to", "79990000003"), ("json", "1")]).await;
    assert_eq!(empty["sms"]["79990000003"]["status_code"], 203);
}
