//! Column mappings of imports: those of a job and those that a project saves.

use kontor_adapter_diesel::database_tests;
use kontor_catalog::bulk::{JobState, NewJob, RunOutcome};
use kontor_catalog::spreadsheet::ports::ColumnMaps;
use kontor_catalog::spreadsheet::{ColumnMap, ImportKind, ReadOptions};

use crate::fixtures;
use crate::jobs::{ImportFixture, STRICT, at, new_job};

database_tests! {
    async fn a_job_is_read_as_its_sender_chose(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let columns = ColumnMap::of_file(ImportKind::Nomenclatures, [("Код", Some("article")), ("Имя", Some("name")), ("Вес", None)]);
        let reading = ReadOptions { header_row: Some(2), columns: columns.unwrap(), keep_empty: true, ..ReadOptions::default() };
        let job = NewJob { reading: reading.clone(), ..new_job(ImportKind::Nomenclatures, STRICT, "Letter\nкод;имя;вес;цвет\nA;Mug;1;red\n") };
        let queued = fixture.jobs().insert(fixture.stock_fixture.project, job, 20, at()).await.unwrap();
        assert_eq!((&queued.reading, &queued.layout), (&reading, &None));
        let leased = fixture.take("one").await.unwrap();
        assert_eq!(leased.job.reading, reading);
        assert_eq!(fixture.work(leased, |_| true).await.unwrap(), RunOutcome::Ended(JobState::Succeeded));
        let job = fixture.job(queued.id).await;
        assert_eq!((job.tally.created, job.ignored_columns), (1, vec!["вес".to_owned(), "цвет".to_owned()]));
        let layout = job.layout.unwrap();
        assert_eq!((layout.sheet, layout.header_row, layout.columns.len()), (None, 2, 4));
        assert_eq!(layout.columns[0].column.as_deref(), Some("article"));
    }

    async fn saved_columns_belong_to_a_project_and_a_kind(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let (project, other) = (fixture.stock_fixture.project, fixtures::project(&db).await);
        let maps: &dyn ColumnMaps = &db.database;
        let map = |entries: &[(&str, Option<&str>)]| ColumnMap::shared(ImportKind::Inventories, entries.iter().copied()).unwrap();
        let (first, second) = (map(&[("Код", Some("article")), ("Вес", None)]), map(&[("Арт.", Some("article"))]));
        maps.replace(project, ImportKind::Inventories, first.clone()).await.unwrap();
        assert_eq!(maps.find(project, ImportKind::Inventories).await.unwrap(), first);
        maps.replace(project, ImportKind::Inventories, second.clone()).await.unwrap();
        maps.replace(other, ImportKind::Inventories, first.clone()).await.unwrap();
        assert_eq!(maps.find(project, ImportKind::Inventories).await.unwrap(), second);
        assert_eq!(maps.find(project, ImportKind::Nomenclatures).await.unwrap(), ColumnMap::default());
        maps.replace(project, ImportKind::Inventories, ColumnMap::default()).await.unwrap();
        assert_eq!(maps.find(project, ImportKind::Inventories).await.unwrap(), ColumnMap::default());
        assert_eq!(maps.find(other, ImportKind::Inventories).await.unwrap(), first);
    }
}
