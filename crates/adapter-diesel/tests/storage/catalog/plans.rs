//! Subscription plans that an application offers, and their view for customers.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::storefront::ports::StorefrontPlans;
use kontor_catalog::{PlanError, PlanRefusal};
use kontor_kernel::*;

use super::records::*;
use crate::fixtures;

/// A project with two applications.
struct PlanFixture<'a> {
    db: &'a TestDatabase,
    project: ProjectId,
    site: ApplicationId,
    kiosk: ApplicationId,
}

impl<'a> PlanFixture<'a> {
    async fn open(db: &'a TestDatabase) -> Self {
        let project = fixtures::project(db).await;
        let branch = branch(db, project).await;
        let (site, kiosk) =
            (application(db, project, branch, "Site").await, application(db, project, branch, "Kiosk").await);
        Self { db, project, site, kiosk }
    }

    async fn plan(&self, title: &str) -> Nomenclature {
        item(self.db, self.project, plan_card(title)).await
    }

    async fn wish(&self, draft: PlanDraft) -> Result<AssignOutcome, PlanError> {
        PlanRepository::assign(&self.db.database, self.project, self.site, draft, NOON).await
    }

    async fn assign(&self, draft: PlanDraft) -> PlanAssignment {
        match self.wish(draft).await.unwrap() {
            AssignOutcome::Created(assignment) => assignment,
            AssignOutcome::Existing(known) => panic!("{known:?}"),
        }
    }

    async fn change(&self, id: PlanAssignmentId, change: PlanChange) -> Result<PlanAssignment, PlanError> {
        PlanRepository::update(&self.db.database, self.project, self.site, id, change, NOON).await
    }

    fn app(&self, application_id: ApplicationId) -> AppScope {
        AppScope { project_id: self.project, application_id, wholesale: false }
    }

    /// Slugs that customers of an application see, in order.
    async fn shown(&self, application: ApplicationId) -> String {
        let app = self.app(application);
        let plans = self.db.database.plans(app).await.unwrap();
        let cards = self.db.database.plan_cards(app).await.unwrap();
        assert_eq!(plans, cards.into_iter().map(|card| card.plan).collect::<Vec<_>>());
        plans.iter().map(|plan| plan.slug.as_str()).collect::<Vec<_>>().join(" ")
    }
}

fn plan_card(title: &str) -> Card {
    let price = Some("490.00".parse().unwrap());
    let subscription = Some(BillingPeriod::months(1).unwrap());
    Card { price, subscription, ..Card::new(name(title), NomenclatureKind::Service) }
}

fn slug(text: &str) -> PlanSlug {
    PlanSlug::parse(text).unwrap()
}

fn draft(item: &Nomenclature, text: &str) -> PlanDraft {
    PlanDraft { nomenclature_id: item.id, slug: Some(slug(text)), position: None, is_active: true }
}

fn position(number: i64) -> PlanPosition {
    PlanPosition::new(number).unwrap()
}

database_tests! {
    async fn concurrent_assignments_of_a_plan_make_one(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        for round in 0..5 {
            let gold = fixture.plan("Gold").await;
            let wishes: Vec<_> = (0..8).map(|number| {
                let (database, project, site) = (db.database.clone(), fixture.project, fixture.site);
                let draft = draft(&gold, &format!("gold-{round}-{number}"));
                tokio::spawn(async move { PlanRepository::assign(&database, project, site, draft, NOON).await })
            }).collect();
            let (mut renewed, mut reported) = (0, Vec::new());
            for wish in wishes {
                let assignment = match wish.await.unwrap().unwrap() {
                    AssignOutcome::Created(assignment) => { renewed += 1; assignment }
                    AssignOutcome::Existing(assignment) => assignment,
                };
                reported.push(assignment);
            }
            assert_eq!(renewed, 1);
            assert!(reported.iter().all(|assignment| *assignment == reported[0]), "{reported:?}");
            assert_eq!(reported[0].position, position(round + 1));
        }
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM subscription_nomenclatures").await, 5);
    }

    async fn of_two_plans_that_race_for_a_slug_one_gets_it(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        for round in 0..5 {
            let text = format!("gold-{round}");
            // A plan that was assigned before requests the slug, too.
            let known = fixture.assign(draft(&fixture.plan("Known").await, &format!("known-{round}"))).await;
            let mut drafts = Vec::new();
            for _ in 0..4 {
                drafts.push(draft(&fixture.plan("Gold").await, &text));
            }
            let mut wishes = Vec::new();
            for draft in drafts {
                let (database, project, site) = (db.database.clone(), fixture.project, fixture.site);
                wishes.push(tokio::spawn(async move {
                    PlanRepository::assign(&database, project, site, draft, NOON).await.map(|_| ())
                }));
            }
            let (database, project, site) = (db.database.clone(), fixture.project, fixture.site);
            let change = PlanChange { slug: Edit::Set(slug(&text)), ..PlanChange::default() };
            wishes.push(tokio::spawn(async move {
                PlanRepository::update(&database, project, site, known.id, change, NOON).await.map(|_| ())
            }));
            let mut got = 0;
            for wish in wishes {
                match wish.await.unwrap() {
                    Ok(()) => got += 1,
                    Err(PlanError::Refused(PlanRefusal::SlugTaken)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(got, 1, "round {round}");
        }
    }

    async fn the_limit_holds_in_any_race(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        let mut plans = Vec::new();
        for _ in 0..6 {
            plans.push(fixture.plan("Gold").await);
        }
        let (project, site) = (fixture.project, fixture.site);
        let most = PlanAssignment::MAX_PER_APPLICATION - 1;
        fixtures::run(&db, format!(
            "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, price, is_subscription, billing_period_months, \
             wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) \
             SELECT {project}, 'P', 'p', 1, 100, TRUE, 1, FALSE, 1, 1, 0, 1, created_at, created_at FROM n, projects \
             WHERE id = {project}; \
             INSERT INTO subscription_nomenclatures (project_id, application_id, nomenclature_id, plan_slug, position, \
             is_active, created_at, updated_at) SELECT project_id, {site}, id, 'plan-' || id, id, TRUE, created_at, created_at \
             FROM nomenclatures WHERE name = 'P'"
        )).await;
        let wishes: Vec<_> = plans.iter().map(|plan| {
            let (database, draft) = (db.database.clone(), draft(plan, &format!("gold-{}", plan.id)));
            tokio::spawn(async move { PlanRepository::assign(&database, project, site, draft, NOON).await })
        }).collect();
        let mut assigned = 0;
        for wish in wishes {
            match wish.await.unwrap() {
                Ok(AssignOutcome::Created(_)) => assigned += 1,
                Err(PlanError::Refused(PlanRefusal::TooMany)) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(assigned, 1);
    }

    async fn only_plans_of_the_project_are_assigned(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        let foreign = item(&db, fixtures::project(&db).await, plan_card("Foreign")).await;
        let service = item(&db, fixture.project, Card { subscription: None, ..plan_card("Service") }).await;
        for wrong in [foreign, service] {
            assert!(matches!(fixture.wish(draft(&wrong, "x")).await, Err(PlanError::Refused(PlanRefusal::UnknownPlan))), "{}", wrong.card.name);
        }
        let nowhere = PlanDraft { nomenclature_id: NomenclatureId::new(999_999).unwrap(), slug: None, position: None, is_active: true };
        assert!(matches!(fixture.wish(nowhere).await, Err(PlanError::Refused(PlanRefusal::UnknownPlan))));
    }

    async fn an_assignment_is_changed_in_its_application_alone(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        let (gold, silver) = (fixture.plan("Gold").await, fixture.plan("Silver").await);
        let bare = PlanDraft { slug: None, position: Some(position(7)), is_active: false, ..draft(&gold, "x") };
        let assigned = fixture.assign(bare.clone()).await;
        assert_eq!((&assigned.slug, assigned.position, assigned.is_active), (&PlanSlug::of_item(gold.id), position(7), false));
        assert_eq!(fixture.wish(draft(&gold, "other")).await.unwrap(), AssignOutcome::Existing(assigned.clone()));
        assert_eq!(fixture.change(assigned.id, PlanChange::default()).await.unwrap(), assigned);
        let change = PlanChange { slug: Edit::Set(slug("gold")), position: Edit::Set(position(2)), is_active: Edit::Set(true) };
        let changed = fixture.change(assigned.id, change.clone()).await.unwrap();
        assert_eq!((&changed.slug, changed.position, changed.is_active), (&slug("gold"), position(2), true));
        let second = fixture.assign(draft(&silver, "silver")).await;
        assert_eq!(second.position, position(3));
        assert!(matches!(fixture.change(second.id, change.clone()).await, Err(PlanError::Refused(PlanRefusal::SlugTaken))));
        let elsewhere = PlanRepository::update(&db.database, fixture.project, fixture.kiosk, assigned.id, change, NOON).await;
        assert!(matches!(elsewhere, Err(PlanError::NotFound)));
        let elsewhere = PlanRepository::withdraw(&db.database, fixture.project, fixture.kiosk, assigned.id).await;
        assert!(matches!(elsewhere, Err(PlanError::NotFound)));
        PlanRepository::withdraw(&db.database, fixture.project, fixture.site, assigned.id).await.unwrap();
        let gone = PlanRepository::withdraw(&db.database, fixture.project, fixture.site, assigned.id).await;
        assert!(matches!(gone, Err(PlanError::NotFound)));
    }

    async fn customers_see_what_is_active_and_a_plan(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        let mut plans = Vec::new();
        for title in ["a", "b", "c", "d"] {
            let plan = fixture.plan(title).await;
            plans.push((fixture.assign(draft(&plan, title)).await, plan));
        }
        assert_eq!((fixture.shown(fixture.site).await.as_str(), fixture.shown(fixture.kiosk).await.as_str()), ("a b c d", ""));
        let outsider = AppScope { project_id: fixtures::project(&db).await, ..fixture.app(fixture.site) };
        assert!(db.database.plans(outsider).await.unwrap().is_empty() && db.database.plan_cards(outsider).await.unwrap().is_empty());

        let place = |number| PlanChange { position: Edit::Set(position(number)), ..PlanChange::default() };
        fixture.change(plans[3].0.id, place(1)).await.unwrap();
        fixture.change(plans[2].0.id, place(0)).await.unwrap();
        assert_eq!(fixture.shown(fixture.site).await, "c a d b");
        let hidden = PlanChange { is_active: Edit::Set(false), ..PlanChange::default() };
        fixture.change(plans[0].0.id, hidden).await.unwrap();
        let (stamp, seen) = (Stamp::of_system(fixture.project, NOON), plans[1].1.clone());
        let service = Card { subscription: None, ..seen.card.clone() };
        NomenclatureRepository::replace(&db.database, stamp, seen, service).await.unwrap();
        assert_eq!(fixture.shown(fixture.site).await, "c d");
    }

    async fn a_list_costs_one_statement_with_any_content(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        let category_id = Some(category(&db, fixture.project, "Clubs").await.id);
        let photos = Gallery::new(vec![PhotoUrl::parse("https://a/1").unwrap(), PhotoUrl::parse("https://a/2").unwrap()]).unwrap();
        for number in 0..20 {
            let card = Card { category_id, photos: photos.clone(), ..plan_card("Gold") };
            let plan = item(&db, fixture.project, card).await;
            fixture.assign(draft(&plan, &format!("gold-{number}"))).await;
        }
        let before = db.statements();
        assert_eq!(db.database.plans(fixture.app(fixture.site)).await.unwrap().len(), 20);
        assert_eq!(db.statements() - before, 1);
        let cards = db.database.plan_cards(fixture.app(fixture.site)).await.unwrap();
        assert_eq!(db.statements() - before, 2);
        assert_eq!((cards.len(), cards[7].photos.as_slice()), (20, photos.photos()));
        assert_eq!(cards[7].category.as_ref().map(|category| category.name.as_str()), Some("Clubs"));
    }

    async fn staff_choose_among_the_plans_of_their_project(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        item(&db, fixture.project, Card { subscription: None, ..plan_card("Gold ring") }).await;
        item(&db, fixtures::project(&db).await, plan_card("Foreign gold")).await;
        let (silver, gold) = (fixture.plan("Silver").await, fixture.plan("Gold").await);
        let assigned = fixture.assign(draft(&gold, "gold")).await;
        let catalog = async |application, text: Option<&str>, page| {
            let text = text.map(|text| Line::parse(text).unwrap());
            db.database.catalog(fixture.project, application, text, page).await.unwrap()
        };
        let all = catalog(fixture.site, None, page(1, 100)).await;
        let reported: Vec<_> = all.items.iter().map(|plan| (plan.item.id, plan.currency.as_str(), plan.assignment.as_ref())).collect();
        assert_eq!(reported, [(silver.id, "RUB", None), (gold.id, "RUB", Some(&assigned))]);
        let found = catalog(fixture.kiosk, Some("gol"), page(1, 100)).await;
        assert_eq!((found.total, &found.items[0].item, found.items[0].assignment.as_ref()), (1, &gold, None));
        let second = catalog(fixture.site, None, page(2, 1)).await;
        assert_eq!((second.total, second.items.len(), second.items[0].item.id), (2, 1, gold.id));
    }

    async fn a_plan_that_goes_takes_its_assignments_along(db: TestDatabase) {
        let fixture = PlanFixture::open(&db).await;
        let (gold, silver) = (fixture.plan("Gold").await, fixture.plan("Silver").await);
        fixture.assign(draft(&gold, "gold")).await;
        fixture.assign(draft(&silver, "silver")).await;
        execute(&db, format!("DELETE FROM nomenclatures WHERE id = {}", gold.id)).await;
        assert_eq!(fixture.shown(fixture.site).await, "silver");
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM subscription_nomenclatures").await, 1);
    }
}
