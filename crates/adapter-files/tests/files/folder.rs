use kontor_adapter_files::FileStorage;

use crate::support::{get, keeps_contents, keeps_smaller_copies, key, put, remove};

#[tokio::test]
async fn a_folder_keeps_contents() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("deep").join("files");
    let storage = FileStorage::folder(&place);
    assert!(!place.exists(), "it is made with the first content");
    keeps_contents(&storage).await;
    assert!(place.join("7").exists());
    // Another process, or the same one after a restart.
    assert_eq!(get(&FileStorage::folder(&place), 2, 0..1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_folder_keeps_smaller_copies() {
    let folder = tempfile::tempdir().unwrap();
    keeps_smaller_copies(&FileStorage::folder(folder.path())).await;
    assert_eq!(std::fs::read_dir(folder.path().join("7")).unwrap().count(), 0);
}

#[tokio::test]
async fn removing_a_content_removes_leftovers_of_a_killed_process() {
    let folder = tempfile::tempdir().unwrap();
    let storage = FileStorage::folder(folder.path());
    put(&storage, 1, b"whole").await.unwrap();
    let own = std::fs::read_dir(folder.path().join("7")).unwrap().next().unwrap().unwrap().path();
    assert!(!own.to_str().unwrap().contains(key(1).as_str()), "a listing gives no key away");
    // Temporary file of an incomplete content.
    std::fs::write(own.join("content#1"), b"ha").unwrap();
    remove(&storage, 1).await;
    assert!(!own.exists());
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_a_failure_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, b"x").unwrap();
    let storage = FileStorage::folder(file.join("below"));
    assert!(put(&storage, 1, b"content").await.is_err());
}
