//! A full disk: what does not fit is refused, and leaves nothing behind.

use std::path::Path;

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use reqwest::multipart::{Form, Part};

use crate::owner_client::OwnerClient;
use crate::platform_files::{form, pdf};
use crate::process::ProcessEnvironment;
use crate::support::send;

/// Maximum size of a file in KiB.
const ROOM: u32 = 3_072;

/// Returns the number of non-empty files in a folder and below.
fn files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let one = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path) } else { usize::from(std::fs::metadata(path).unwrap().len() > 0) }
    };
    entries.map(one).sum()
}

database_tests! {
    async fn an_upload_that_does_not_fit_leaves_nothing(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let owner = environment.create_project("owner");
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let settings = [
            ("KONTOR_FILES_FOLDER", place("files")),
            ("KONTOR_IMPORT_FOLDER", place("imports")),
            ("KONTOR_LOG", "warn".to_owned()),
        ];
        let mut process = environment.start(environment.command_with_small_files(&["serve"], ROOM, &settings));
        environment.ready(&mut process).await;
        let owner_client = OwnerClient::sign_in(&environment, owner).await;
        let upload = async |size: usize| send(owner_client.request(Method::POST, "/api/files").multipart(form("3", "a.pdf", &pdf(size)))).await;
        for _ in 0..2 {
            let refused = upload(5_000_000).await;
            assert_eq!(refused.status.as_u16(), 503, "{refused:?}");
            assert_eq!(files(folder.path()), 0, "{}", environment.log());
        }
        let rows = "A-1;Mug;goods\n".repeat(400_000);
        let sheet = Form::new().part("file", Part::text(format!("article;name;kind\n{rows}")).file_name("cards.csv"));
        let refused = send(owner_client.request(Method::POST, "/api/nomenclatures/import").multipart(sheet)).await;
        assert_eq!(refused.status.as_u16(), 503, "{refused:?}");
        assert_eq!(files(folder.path()), 0, "{}", environment.log());
        upload(50_000).await.expect(201);
        assert_eq!(files(folder.path()), 1);
        process.terminate();
        assert!(process.ended().await.success());
    }

    async fn an_export_that_does_not_fit_leaves_nothing(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let rows: Vec<_> = (0..2_000).map(|row| format!("A-{row};{}\n", "Mug ".repeat(60))).collect();
        std::fs::write(path("cards.csv"), format!("article;name\n{}", rows.concat())).unwrap();
        environment.run(&["import", "nomenclatures", &path("cards.csv"), "--project", &project]);
        let all = path("all.csv");
        let arguments = ["export", "nomenclatures", &all, "--project", &project];
        let export = |kibibytes| environment.command_with_small_files(&arguments, kibibytes, &[]).output().unwrap();
        assert!(!export(256).status.success());
        assert!(!Path::new(&all).exists());
        assert!(export(1_024).status.success());
        let whole = std::fs::read(&all).unwrap();
        assert!(!export(256).status.success());
        assert_eq!(std::fs::read(&all).unwrap(), whole, "what was there stays");
        assert_eq!(files(folder.path()), 2, "and nothing beside it");
    }
}
