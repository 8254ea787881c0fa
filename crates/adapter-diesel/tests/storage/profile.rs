//! Customers change their record and their phone, and are deleted.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::model::{
    CodeRedemption, NewCode, NewPhoneCode, NewToken, PhoneChangeAttempt, PhoneChangeOutcome, PhoneOwnership,
    RedeemOutcome,
};
use kontor_auth::ports::{CodeRepository, CustomerAccounts, PhoneRepository, TokenRepository};
use kontor_customers::CustomerError;
use kontor_customers::model::{Customer, DecidedChange, PersonalData};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{ApplicationId, Contact, CounterpartyId, Edit, Email, Name, Phone, ProjectId, TokenId};
use kontor_orders::PlacementError;
use tokio::sync::Barrier;

use crate::fixtures::{self, shop};
use crate::orders::shop::ShopFixture;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;
const AT: &str = "'2026-01-01 00:00:00'";

fn at(seconds: i64) -> DateTime<Utc> {
    START + TimeDelta::seconds(seconds)
}

fn phone(text: &str) -> Phone {
    Phone::parse(text).unwrap()
}

fn email(text: &str) -> Email {
    Email::parse(text).unwrap()
}

async fn signed_up(db: &Database, project: ProjectId, contact: &str) -> CounterpartyId {
    db.find_or_create(project, &Contact::parse(contact).unwrap(), START).await.unwrap()
}

async fn change(
    db: &Database,
    project_id: ProjectId,
    customer: CounterpartyId,
    data: PersonalData,
) -> Result<Customer, CustomerError> {
    db.change_profile(DecidedChange { customer, project_id, data, at: at(9) }).await?;
    Ok(fixtures::customer(db, project_id, customer).await)
}

fn mail(text: &str) -> PersonalData {
    PersonalData { email: Edit::Set(Some(email(text))), ..PersonalData::default() }
}

async fn send(db: &Database, project_id: ProjectId, customer: CounterpartyId, to: &str, fingerprint: &str) -> bool {
    let code = NewCode {
        fingerprint: fingerprint.to_owned(),
        attempts: 2,
        created_at: START,
        expires_at: START + TimeDelta::minutes(5),
    };
    db.store_code(NewPhoneCode { project_id, customer, phone: phone(to), code }).await.unwrap()
}

async fn prove(
    db: &Database,
    project_id: ProjectId,
    customer: CounterpartyId,
    to: &str,
    fingerprint: &str,
    seconds: i64,
) -> PhoneChangeOutcome {
    let fingerprint = fingerprint.to_owned();
    let attempt = PhoneChangeAttempt { project_id, customer, phone: phone(to), fingerprint, at: at(seconds) };
    db.change_phone(attempt).await.unwrap()
}

async fn log_in(db: &Database, project_id: ProjectId, contact: &str, fingerprint: &str) -> RedeemOutcome {
    let contact = Contact::parse(contact).unwrap();
    let code = NewCode {
        fingerprint: "login".to_owned(),
        attempts: 5,
        created_at: START,
        expires_at: START + TimeDelta::minutes(5),
    };
    CodeRepository::replace(db, project_id, &contact, code).await.unwrap();
    let token = NewToken {
        fingerprint: "t".to_owned(),
        device: None,
        created_at: at(1),
        expires_at: START + TimeDelta::days(1),
    };
    db.redeem(CodeRedemption {
        project_id,
        application_id: ApplicationId::new(1).unwrap(),
        contact,
        fingerprint: fingerprint.to_owned(),
        token,
    })
    .await
    .unwrap()
}

fn signed_in(outcome: RedeemOutcome) -> (CounterpartyId, TokenId) {
    match outcome {
        RedeemOutcome::SignedIn { counterparty_id, token_id } => (counterparty_id, token_id),
        other => panic!("{other:?}"),
    }
}

database_tests! {
    async fn omitted_fields_stay(db: TestDatabase) {
        let project = shop(&db).await;
        let anna = signed_up(&db.database, project, "79001234567").await;
        let data = PersonalData {
            first_name: Edit::Set(Name::parse("Анна 🌸").ok()),
            last_name: Edit::Set(Name::parse("كرن").ok()),
            birthday: Edit::Set("1990-02-03".parse().ok()),
            phone_2: Edit::Set(Some(phone("79007654321"))),
            ..mail("anna@x.ru")
        };
        let record = change(&db.database, project, anna, data).await.unwrap();
        assert_eq!((record.first_name.unwrap().as_str(), record.last_name.unwrap().as_str()), ("Анна 🌸", "كرن"));
        assert_eq!((record.phone_1.unwrap().as_str(), record.updated_at), ("79001234567", at(9)));
        let cleared = PersonalData { birthday: Edit::Set(None), email: Edit::Set(None), ..PersonalData::default() };
        let record = change(&db.database, project, anna, cleared).await.unwrap();
        assert_eq!((record.birthday, record.email, record.middle_name), (None, None, None));
        assert_eq!((record.first_name.unwrap().as_str(), record.phone_2.unwrap().as_str()), ("Анна 🌸", "79007654321"));
        let (other, nobody) = (fixtures::project(&db).await, CounterpartyId::new(99).unwrap());
        for (project, customer) in [(other, anna), (project, nobody)] {
            let refused = db.database.change_profile(DecidedChange {
                customer, project_id: project, data: mail("b@x.ru"), at: at(9),
            }).await;
            assert!(matches!(refused, Err(CustomerError::NotFound)), "{refused:?}");
        }
    }

    async fn an_address_signs_in_only_the_customer_who_proved_it(db: TestDatabase) {
        let project = shop(&db).await;
        let anna = signed_up(&db.database, project, "79001234567").await;
        let boris = signed_up(&db.database, project, "boris@x.ru").await;
        fixtures::run(&db, format!(
            "INSERT INTO counterparties (id, project_id, is_company, email, created_at, updated_at) VALUES
                 (70, {project}, FALSE, 'noted@x.ru', '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        )).await;
        for taken in ["boris@x.ru", "noted@x.ru"] {
            let refused = change(&db.database, project, anna, mail(taken)).await;
            assert!(matches!(refused, Err(CustomerError::EmailTaken)), "{taken}");
        }
        change(&db.database, project, anna, mail("anna@x.ru")).await.unwrap();
        // Another customer verifies the address first: Anna has only entered it.
        let owner = signed_up(&db.database, project, "anna@x.ru").await;
        assert!(owner != anna && owner != boris);
        // The customer still logs in with known contacts, and may enter one again.
        change(&db.database, project, boris, mail("new@x.ru")).await.unwrap();
        assert_eq!(signed_up(&db.database, project, "boris@x.ru").await, boris);
        change(&db.database, project, boris, mail("boris@x.ru")).await.unwrap();
        let confirmed = "SELECT COUNT(*) AS value FROM counterparties WHERE email = 'boris@x.ru' AND email_confirmed";
        assert_eq!(fixtures::number(&db, confirmed).await, 1);
        let elsewhere = fixtures::project(&db).await;
        let outsider = signed_up(&db.database, elsewhere, "79001234567").await;
        change(&db.database, elsewhere, outsider, mail("boris@x.ru")).await.unwrap();
    }

    async fn a_code_moves_a_customer_to_another_phone(db: TestDatabase) {
        let project = shop(&db).await;
        let anna = signed_up(&db.database, project, "79001234567").await;
        let standing = async |text: &str| db.database.phone_ownership(project, anna, &phone(text)).await.unwrap();
        assert_eq!(standing("79001234567").await, PhoneOwnership::Own);
        assert_eq!(standing("79007654321").await, PhoneOwnership::Free);
        assert_eq!(prove(&db.database, project, anna, "79007654321", "c", 1).await, PhoneChangeOutcome::NoValidCode);
        assert!(send(&db.database, project, anna, "79007654321", "c").await);
        assert_eq!(prove(&db.database, project, anna, "79007654322", "c", 1).await, PhoneChangeOutcome::NoValidCode);
        assert_eq!(prove(&db.database, project, anna, "79007654321", "c", 300).await, PhoneChangeOutcome::NoValidCode);
        assert_eq!(prove(&db.database, project, anna, "79007654321", "x", 1).await, PhoneChangeOutcome::WrongCode);
        assert_eq!(prove(&db.database, project, anna, "79007654321", "c", 1).await, PhoneChangeOutcome::Changed);
        assert_eq!(prove(&db.database, project, anna, "79007654321", "c", 1).await, PhoneChangeOutcome::NoValidCode);
        let record = fixtures::customer(&db.database, project, anna).await;
        assert_eq!((record.phone_1.unwrap().as_str(), record.updated_at), ("79007654321", at(1)));
        assert_eq!(signed_in(log_in(&db.database, project, "79007654321", "login").await).0, anna);
        assert_eq!(log_in(&db.database, project, "79001234567", "login").await, RedeemOutcome::UnknownContact);
        assert_ne!(signed_up(&db.database, project, "79001234567").await, anna);
        assert_eq!(standing("79001234567").await, PhoneOwnership::Taken);
        // An address that is a login contact stays one.
        let boris = signed_up(&db.database, project, "boris@x.ru").await;
        send(&db.database, project, boris, "79005550000", "c").await;
        assert_eq!(prove(&db.database, project, boris, "79005550000", "c", 1).await, PhoneChangeOutcome::Changed);
        assert_eq!(signed_up(&db.database, project, "boris@x.ru").await, boris);
        assert_eq!(signed_up(&db.database, project, "79005550000").await, boris);
    }

    async fn codes_of_different_purposes_do_not_stand_for_each_other(db: TestDatabase) {
        let project = shop(&db).await;
        let anna = signed_up(&db.database, project, "79001234567").await;
        send(&db.database, project, anna, "79007654321", "change").await;
        assert_eq!(log_in(&db.database, project, "79007654321", "change").await, RedeemOutcome::UnknownContact);
        assert_eq!(prove(&db.database, project, anna, "79007654321", "login", 1).await, PhoneChangeOutcome::WrongCode);
        assert_eq!(log_in(&db.database, project, "79001234567", "change").await, RedeemOutcome::WrongCode);
    }

    async fn wrong_tries_are_counted_even_when_they_race(db: TestDatabase) {
        let project = shop(&db).await;
        let anna = signed_up(&db.database, project, "79001234567").await;
        send(&db.database, project, anna, "79007654321", "c").await;
        let tries = (0..6).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { prove(&database, project, anna, "79007654321", "wrong", 1).await })
        });
        let mut wrong = 0;
        for attempt in tries.collect::<Vec<_>>() {
            wrong += usize::from(attempt.await.unwrap() == PhoneChangeOutcome::WrongCode);
        }
        assert_eq!(wrong, 2);
        assert_eq!(prove(&db.database, project, anna, "79007654321", "c", 1).await, PhoneChangeOutcome::NoValidCode);
    }

    async fn one_of_many_gets_a_phone(db: TestDatabase) {
        let project = shop(&db).await;
        for round in 0..5_u32 {
            let wanted = format!("7900555000{round}");
            let mut racers = Vec::new();
            for n in 0..6_u32 {
                let customer = signed_up(&db.database, project, &format!("790011122{round}{n}")).await;
                send(&db.database, project, customer, &wanted, "c").await;
                racers.push(customer);
            }
            let start = Arc::new(Barrier::new(racers.len() + 1));
            let racers: Vec<_> = racers.into_iter().map(|customer| {
                let (database, start, wanted) = (db.database.clone(), Arc::clone(&start), wanted.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    (customer, prove(&database, project, customer, &wanted, "c", 1).await)
                })
            }).collect();
            // A concurrent login with the phone: either none of the two gets it, or the new customer does.
            let new_customer = {
                let (database, start, wanted) = (db.database.clone(), Arc::clone(&start), wanted.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    signed_up(&database, project, &wanted).await
                })
            };
            let mut won = Vec::new();
            for racer in racers {
                match racer.await.unwrap() {
                    (customer, PhoneChangeOutcome::Changed) => won.push(customer),
                    (_, PhoneChangeOutcome::Taken) => {}
                    other => panic!("{other:?}"),
                }
            }
            let new_customer = new_customer.await.unwrap();
            assert!(won.len() <= 1, "{won:?}");
            assert!(won.iter().all(|winner| *winner == new_customer), "{won:?} {new_customer}");
            assert_eq!(signed_up(&db.database, project, &wanted).await, new_customer);
        }
    }

    async fn deleting_a_customer_deletes_personal_data(db: TestDatabase) {
        let project = shop(&db).await;
        let anna = signed_up(&db.database, project, "79001234567").await;
        let data = PersonalData {
            first_name: Edit::Set(Name::parse("Anna").ok()),
            address: Edit::Set(kontor_kernel::Line::parse("Elbe Street 5").ok()),
            birthday: Edit::Set("1990-02-03".parse().ok()),
            phone_2: Edit::Set(Some(phone("79007654321"))),
            ..mail("anna@x.ru")
        };
        change(&db.database, project, anna, data).await.unwrap();
        fixtures::run(&db, format!(
            "INSERT INTO roles (id, project_id, name, is_owner, created_at, updated_at)
                 VALUES (50, {project}, 'R', FALSE, {AT}, {AT});
             INSERT INTO users (id, project_id, role_id, login, email, password_hash, first_name, last_name, is_banned,
                 is_sick, active_seconds, created_at, updated_at)
                 VALUES (50, {project}, 50, 'u', 'u@x.ru', 'h', 'U', 'U', FALSE, FALSE, 0, {AT}, {AT});
             INSERT INTO files (id, project_id, file_type_id, state, file_key, name, mime_type, size, sha256, creator_id,
                 created_at) VALUES (50, {project}, 2, 'ready', '{0:0>40}', 'f', 'image/png', 1, 's', 50, {AT});
             UPDATE counterparties SET avatar_id = 50 WHERE id = {anna};", 1
        )).await;
        send(&db.database, project, anna, "79005550000", "c").await;
        let (_, token) = signed_in(log_in(&db.database, project, "79001234567", "login").await);
        assert!(db.database.customer_token(token).await.unwrap().is_some());

        db.database.delete_account(project, anna, at(9)).await.unwrap();
        let kept = "SELECT COUNT(*) AS value FROM counterparties WHERE deleted_at IS NOT NULL AND first_name IS NULL \
            AND address IS NULL AND birthday IS NULL AND phone_1 IS NULL AND phone_2 IS NULL AND email IS NULL \
            AND avatar_id IS NULL";
        assert_eq!(fixtures::number(&db, kept).await, 1);
        for table in [
            "SELECT COUNT(*) AS value FROM login_contacts",
            "SELECT COUNT(*) AS value FROM one_time_codes",
            "SELECT COUNT(*) AS value FROM phone_change_codes",
            "SELECT COUNT(*) AS value FROM access_tokens",
        ] {
            assert_eq!(fixtures::number(&db, table).await, 0, "{table}");
        }
        assert!(CustomerRepository::find(&db.database, anna).await.unwrap().is_none());
        assert!(matches!(db.database.delete_account(project, anna, at(9)).await, Err(CustomerError::NotFound)));
        assert!(!send(&db.database, project, anna, "79005550000", "c").await);
        assert_eq!(prove(&db.database, project, anna, "79005550000", "c", 1).await, PhoneChangeOutcome::CustomerDeleted);
        assert_ne!(signed_up(&db.database, project, "79001234567").await, anna);
        // A token that was issued at the same time grants nothing.
        fixtures::run(&db, format!(
            "INSERT INTO access_tokens (id, guard, subject_id, project_id, application_id, fingerprint, created_at, expires_at)
                 VALUES (77, 'counterparty', {anna}, {project}, 1, 'f', '2026-01-01 00:00:00', '2100-01-01 00:00:00');"
        )).await;
        assert!(db.database.customer_token(TokenId::new(77).unwrap()).await.unwrap().is_none());
    }

    async fn a_login_that_races_a_deletion_ends_with_a_usable_customer(db: TestDatabase) {
        let project = shop(&db).await;
        for round in 0..8_u32 {
            let contact = format!("7900777000{round}");
            fixtures::run(&db, format!(
                "INSERT INTO counterparties (id, project_id, is_company, phone_1, created_at, updated_at) VALUES
                     ({}, {project}, FALSE, '{contact}', '2026-01-01 00:00:00', '2026-01-01 00:00:00');", 1_000 * (round + 1)
            )).await;
            let noted = CounterpartyId::new(i64::from(1_000 * (round + 1))).unwrap();
            let (database, wanted) = (db.database.clone(), contact.clone());
            let leaving = tokio::spawn(async move { database.delete_account(project, noted, at(9)).await });
            let found = signed_up(&db.database, project, &wanted).await;
            leaving.await.unwrap().unwrap();
            let later = signed_up(&db.database, project, &contact).await;
            assert_ne!(later, noted, "he has left");
            assert!(found == noted || found == later);
            let (owner, token) = signed_in(log_in(&db.database, project, &contact, "login").await);
            assert_eq!(owner, later);
            assert!(db.database.customer_token(token).await.unwrap().is_some());
        }
    }

    async fn a_running_payment_keeps_a_customer(db: TestDatabase) {
        let shop_fixture = ShopFixture::open(&db).await;
        let vase = shop_fixture.goods("Vase", 5, 100).await;
        let (project, anna) = (shop_fixture.customer.app.project_id, shop_fixture.customer.counterparty_id);
        let order = shop_fixture.placed(&shop_fixture.online(&[(vase, 1)])).await;
        let refused = db.database.delete_account(project, anna, at(9)).await;
        assert!(matches!(refused, Err(CustomerError::PaymentOpen)), "{refused:?}");
        let record = fixtures::customer(&db.database, project, anna).await;
        assert!(record.first_name.is_some() && record.phone_1.is_some(), "nothing is half done");
        let id = shop_fixture.acquirer.settle(kontor_payments::model::GatewayStatus::Succeeded);
        shop_fixture.payments.handle_notification(&id, None).await.unwrap();
        db.database.delete_account(project, anna, at(9)).await.unwrap();
        let kept = shop_fixture.order(order.id).await;
        assert_eq!((kept.customer.phone.as_deref(), kept.customer.id), (Some("79001234567"), anna), "orders stay as they are");
        let gone = shop_fixture.place(&shop_fixture.command(&[(vase, 1)])).await;
        assert!(matches!(gone, Err(PlacementError::CustomerDeleted)), "{gone:?}");
        assert_eq!(shop_fixture.stock(vase).await, (5, 1));
    }

    async fn a_deletion_that_races_an_order_is_all_or_nothing(db: TestDatabase) {
        let shop_fixture = ShopFixture::open(&db).await;
        let vase = shop_fixture.goods("Vase", 1_000, 100).await;
        let project = shop_fixture.customer.app.project_id;
        let (mut left, mut kept) = (0, 0);
        for round in 0..12_usize {
            let customer = shop_fixture.another_customer().await;
            let command =
                if round.is_multiple_of(2) { shop_fixture.online(&[(vase, 1)]) } else { shop_fixture.command(&[(vase, 1)]) };
            let (database, id) = (db.database.clone(), customer.counterparty_id);
            let leaving = async move { database.delete_account(project, id, at(9)).await };
            match shop_fixture.order_during(customer, &command, leaving).await {
                Ok(()) => {
                    left += 1;
                    assert_eq!(shop_fixture.open_charges(id).await, 0, "nobody pays who has left");
                }
                Err(CustomerError::PaymentOpen) => kept += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(left >= 6 && left + kept == 12, "{left} left, {kept} stayed");
    }
}
