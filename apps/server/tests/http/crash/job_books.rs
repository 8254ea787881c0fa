//! Comparison of imports after the crash test: every job has ended once, and wrote what it reports.

use super::books::Audit;
use super::importer::{BULK, FIRST_PIECES, Flaw, Goods, Imports, ROWS, Sent, SentFile};

/// Rules for rows, each as a query that counts the rows that break it.
pub const RULES: &[(&str, &str)] = &[
    (
        "a job has ended, well or not",
        "jobs j WHERE j.state NOT IN ('succeeded', 'failed') OR j.finished_at IS NULL OR j.file_place IS NOT NULL",
    ),
    ("a job that went well says nothing else", "jobs j WHERE (j.state = 'failed') <> (j.failure IS NOT NULL)"),
    (
        "a card of a job was written once",
        "nomenclatures n WHERE n.article LIKE 'New-%' AND (n.version <> 1 OR (SELECT count(*) FROM histories h \
         WHERE h.project_id = n.project_id AND h.resource = 'nomenclatures' AND h.resource_id = n.id) <> 1)",
    ),
    (
        "a problem is listed once",
        "job_errors e WHERE EXISTS (SELECT 1 FROM job_errors o WHERE o.job_id = e.job_id \
         AND o.row_number = e.row_number AND o.column_name = e.column_name AND o.id <> e.id)",
    ),
];
/// Number of leases without progress after which a job is given up.
const TAKEN: usize = 5;
const GIVEN_UP: &str = "the service failed repeatedly at the same position";

/// Figures about imports, printed at the end.
#[derive(Debug, Default)]
#[expect(dead_code, reason = "some are only told")]
pub struct ImportFigures {
    pub jobs: i64,
    pub failed: i64,
    pub given_up: i64,
    pub rows: i64,
    pub lost: usize,
}

impl Audit<'_> {
    /// Checks that every uploaded file is one job, at most one without a response, and that there are no other jobs.
    pub(super) async fn imports(&mut self, imports: &Imports, kills: usize) {
        let mut figures = ImportFigures {
            jobs: self.environment.number("SELECT count(*) AS id FROM jobs").await,
            failed: self.environment.number("SELECT count(*) AS id FROM jobs WHERE state = 'failed'").await,
            given_up: self.jobs(&format!("failure LIKE '%{GIVEN_UP}%'")).await,
            lost: imports.files.iter().filter(|file| file.sent == Sent::Lost).count(),
            ..ImportFigures::default()
        };
        let mut named = 0;
        let (mut cards, mut movements) = (0, 0);
        for file in &imports.files {
            named += self.jobs(&format!("file_name = '{}'", file.name())).await;
            let written = self.file(file).await;
            match file.goods {
                Goods::Cards => cards += written,
                Goods::Stock => movements += written,
            }
        }
        figures.rows = cards + movements;
        let jobs = figures.jobs;
        self.check(jobs == named, || format!("{jobs} jobs, {named} of files that were sent"));
        let all = "SELECT count(*) AS id FROM nomenclatures WHERE article LIKE 'New-%'";
        let all = self.environment.number(all).await;
        self.check(all == cards, || format!("{all} new cards, {cards} of files that were sent"));
        let all = format!(
            "SELECT count(*) AS id FROM stock_movements WHERE reason = 'upload' \
             AND quantity_after > {FIRST_PIECES} AND quantity_after < 100000"
        );
        let all = self.environment.number(&all).await;
        self.check(all == movements, || format!("{all} movements, {movements} of files that were sent"));
        let often = usize::try_from(figures.given_up).unwrap() * TAKEN <= kills;
        self.check(often, || format!("{} jobs were given up after {kills} kills", figures.given_up));
        self.check(figures.rows > 0, || "no row was imported".to_owned());
        self.figures.imports = figures;
    }

    /// Checks a file and returns the number of rows written.
    async fn file(&mut self, file: &SentFile) -> i64 {
        let mine = format!("file_name = '{}'", file.name());
        let jobs = self.jobs(&mine).await;
        match file.sent {
            Sent::Job(id) => {
                let is_it = self.jobs(&format!("{mine} AND id = {id}")).await;
                self.check((jobs, is_it) == (1, 1), || format!("{file:?} is {jobs} jobs"));
            }
            Sent::Lost => self.check(jobs <= 1, || format!("{file:?} is {jobs} jobs")),
        }
        let given_up = self.jobs(&format!("{mine} AND failure LIKE '%{GIVEN_UP}%'")).await > 0;
        let succeeded = self.jobs(&format!("{mine} AND state = 'succeeded'")).await > 0;
        let sound = file.flaw != Flaw::Refused;
        self.check(succeeded == (sound && jobs == 1 && !given_up), || format!("{file:?} ended otherwise: {succeeded}"));
        let problems = format!(
            "SELECT count(*) AS id FROM job_errors e JOIN jobs j ON j.id = e.job_id WHERE j.file_name = '{}'",
            file.name()
        );
        let problems = self.environment.number(&problems).await;
        let flawed = i64::from(file.flaw != Flaw::None && jobs == 1);
        self.check(given_up || problems == flawed, || format!("{file:?}: {problems} problems"));

        let written = self.written(file).await;
        let counted = format!(
            "SELECT CAST(COALESCE(sum(created_count + updated_count), 0) AS BIGINT) AS id FROM jobs \
             WHERE {mine} AND phase = 'writing'"
        );
        let counted = self.environment.number(&counted).await;
        self.check(written == counted, || format!("{file:?}: {written} rows were written, {counted} are counted"));
        let all = if succeeded { i64::try_from(ROWS).unwrap() } else { 0 };
        self.check(given_up || written == all, || format!("{file:?}: {written} rows of {all} were written"));
        written
    }

    async fn jobs(&self, which: &str) -> i64 {
        self.environment.number(&format!("SELECT count(*) AS id FROM jobs WHERE {which}")).await
    }

    /// Returns the number of items or movements written from a file; none occurs twice.
    async fn written(&mut self, file: &SentFile) -> i64 {
        let (rows, apart) = match file.goods {
            Goods::Cards => {
                let from = format!("FROM nomenclatures WHERE article LIKE '{}%'", file.prefix());
                (format!("count(*) AS id {from}"), format!("count(DISTINCT article) AS id {from}"))
            }
            Goods::Stock => {
                let from = format!(
                    "FROM stock_movements m JOIN nomenclatures n ON n.id = m.nomenclature_id \
                     WHERE m.quantity_after = {} AND m.reason = 'upload'",
                    file.pieces()
                );
                (format!("count(*) AS id {from}"), format!("count(DISTINCT m.inventory_id) AS id {from}"))
            }
        };
        let rows = self.environment.number(&format!("SELECT {rows}")).await;
        let apart = self.environment.number(&format!("SELECT {apart}")).await;
        self.check(rows == apart, || format!("{file:?}: {rows} rows of {apart} records"));
        if file.goods == Goods::Stock && rows > 0 {
            // The last file decides the quantity, because nothing else changes these items.
            let last = format!(
                "SELECT count(*) AS id FROM inventories i JOIN nomenclatures n ON n.id = i.nomenclature_id \
                 WHERE n.article LIKE '{BULK}%' AND i.quantity <> (SELECT m.quantity_after FROM stock_movements m \
                 WHERE m.inventory_id = i.id ORDER BY m.id DESC LIMIT 1)"
            );
            let last = self.environment.number(&last).await;
            self.check(last == 0, || format!("{last} goods have other pieces than were set last"));
        }
        rows
    }
}
