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

async fn expected(outside: &Outside, phone: &str) -> (String, String) {
    let call = form(outside, "/callcheck/add", &[ID, ("phone", phone), ("json", "1")]).await;
    assert_eq!((&call["status"], &call["status_code"]), (&json!("OK"), &json!(100)), "{call}");
    let text = |name: &str| call[name].as_str().unwrap().to_owned();
    assert!(text("call_phone").bytes().all(|byte| byte.is_ascii_digit()));
    (text("check_id"), text("call_phone"))
}

async fn check_status(outside: &Outside, check: &str) -> Value {
    form(outside, "/callcheck/status", &[ID, ("check_id", check), ("json", "1")]).await["check_status"].clone()
}

#[tokio::test]
async fn a_call_from_the_phone_confirms_the_check() {
    let outside = outside().await;
    let (check, number) = expected(&outside, "79990000001").await;
    let (other, other_number) = expected(&outside, "79990000001").await;
    assert_ne!(number, other_number);
    let call = async |from: &str, to: &str| {
        let (status, answer) = outside.post("/control/calls", json!({ "from": from, "to": to })).await;
        assert_eq!(status, 200, "{answer}");
        answer["confirmed"].clone()
    };
    assert_eq!(call("79990000002", &number).await, json!([]));
    assert_eq!(call("79990000001", "78001112233").await, json!([]));
    assert_eq!(check_status(&outside, &check).await, "400");
    assert_eq!(call("+7 (999) 000-00-01", &number).await, json!([check]));
    assert_eq!(call("79990000001", &number).await, json!([]));
    assert_eq!(
        (check_status(&outside, &check).await, check_status(&outside, &other).await),
        (json!("401"), json!("400"))
    );

    outside.clock.advance(300);
    assert_eq!(call("79990000001", &other_number).await, json!([]));
    assert_eq!(
        (check_status(&outside, &check).await, check_status(&outside, &other).await),
        (json!("401"), json!("402"))
    );
    assert_eq!(check_status(&outside, "1-1").await, "402");
    let (_, listed) = outside.get("/control/callchecks?phone=79990000001").await;
    assert_eq!(
        (&listed["callchecks"][1]["check_id"], &listed["callchecks"][1]["check_status"]),
        (&json!(check), &json!(401))
    );
    let lines = form(&outside, "/callcheck/status", &[ID, ("check_id", &check)]).await;
    assert_eq!(lines, "100\n401");
    let refused = form(&outside, "/callcheck/add", &[("api_id", "x"), ("phone", "79990000001"), ("json", "1")]).await;
    assert_eq!(refused["status_code"], 200);
    outside.post("/control/telephony", json!({ "refuse_phone": "79990000001", "refuse_code": 231 })).await;
    let refused = form(&outside, "/callcheck/add", &[ID, ("phone", "79990000001"), ("json", "1")]).await;
    assert_eq!((&refused["status"], &refused["status_code"]), (&json!("ERROR"), &json!(231)));
    outside.post("/control/telephony", json!({ "refuse_phone": "79990000001", "refuse_code": null })).await;
    expected(&outside, "79990000001").await;
}

#[tokio::test]
async fn messages_about_calls_are_signed_and_repeated_until_taken() {
    let outside = outside().await;
    let (hook, url) = outside.hook(json!({})).await;
    outside.post("/control/telephony", json!({ "callback_url": url })).await;
    let (check, number) = expected(&outside, "79990000001").await;
    outside.post("/control/calls", json!({ "from": "79990000001", "to": number })).await;
    // The hook answers with an empty body, which is not `100`.
    let deliveries = outside.deliveries(&hook, 2).await;
    let body = deliveries[0]["body"].as_str().unwrap();
    let entry = format!("callcheck_status\n{check}\n401\n{}", crate::support::start_of_time().timestamp());
    let signed = ring::digest::digest(&ring::digest::SHA256, format!("sandbox-api-id{entry}").as_bytes());
    let hash = signed.as_ref().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    assert!(body.contains("name=\"data[0]\"") && body.contains(&entry) && body.contains(&hash), "{body}");
    let (_, settings) = outside.get("/control/telephony").await;
    assert_eq!((&settings["pushes"][0]["entry"], &settings["pushes"][0]["status"]), (&json!(entry), &json!(200)));

    let (given_up, _) = expected(&outside, "79990000002").await;
    let end = async || outside.post(&format!("/control/callchecks/{given_up}"), json!({ "outcome": "expire" })).await.0;
    assert_eq!((end().await, end().await), (200, 409));
    assert_eq!(check_status(&outside, &given_up).await, "402");
}
