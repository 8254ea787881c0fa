//! Smaller copies of pictures: their content, access to them, and their storage.

use std::io::Cursor;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use kontor::instance::Roles;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::json;

use crate::platform_file_contents::{bytes, header, place};
use crate::platform_files::PDF;
use crate::project_fixture::ProjectFixture;
use crate::support::send;

/// Creates a picture of one color.
fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = DynamicImage::from(RgbImage::from_pixel(width, height, Rgb([200, 30, 30])));
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn jpeg() -> Vec<u8> {
    picture(ImageFormat::Jpeg, 400, 300)
}

fn size(webp: &[u8]) -> (u32, u32) {
    let image = image::load_from_memory_with_format(webp, ImageFormat::WebP).unwrap();
    (image.width(), image.height())
}

/// Returns the folder of the only file below this one.
fn folder_of(folder: &Path) -> PathBuf {
    let entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    match entries.as_slice() {
        [one] if one.is_dir() => folder_of(one),
        _ => folder.to_owned(),
    }
}

database_tests! {
    async fn every_kind_of_picture_has_smaller_copies(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        for (format, name) in [
            (ImageFormat::Jpeg, "a.jpg"),
            (ImageFormat::Png, "a.png"),
            (ImageFormat::WebP, "a.webp"),
            (ImageFormat::Gif, "a.gif"),
        ] {
            let path = place(&fixture.file("2", name, &picture(format, 400, 300)).await);
            let (_, whole, _) = bytes(fixture.server.request(Method::GET, &path)).await;
            for (width, expected) in [(160, (160, 120)), (320, (320, 240)), (640, (400, 300)), (1280, (400, 300))] {
                let get = || fixture.server.request(Method::GET, &format!("{path}?w={width}"));
                let (status, headers, body) = bytes(get()).await;
                assert_eq!((status, size(&body)), (200, expected), "{name} {width}");
                let etag = header(&headers, "etag");
                assert_eq!(etag, format!("{}-w{width}\"", header(&whole, "etag").trim_end_matches('"')));
                for (name, value) in [
                    ("content-type", "image/webp"),
                    ("content-length", &body.len().to_string()),
                    ("cache-control", "public, max-age=31536000, immutable"),
                    ("x-content-type-options", "nosniff"),
                    ("content-security-policy", "default-src 'none'; sandbox"),
                ] {
                    assert_eq!(header(&headers, name), value);
                }
                let (status, headers, nothing) = bytes(get().header("if-none-match", etag)).await;
                assert_eq!((status, header(&headers, "etag"), nothing.len()), (304, etag, 0));
                let (status, _, all) = bytes(get().header("range", "bytes=0-7")).await;
                assert_eq!((status, all.len()), (200, body.len()), "parts are of whole contents alone");
                let head = fixture.server.request(Method::HEAD, &format!("{path}?w={width}"));
                let (status, headers, nothing) = bytes(head).await;
                let length = body.len().to_string();
                assert_eq!((status, header(&headers, "content-length"), nothing.len()), (200, length.as_str(), 0));
            }
        }
    }

    async fn other_widths_and_other_files_are_refused(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        let path = place(&fixture.file("2", "a.jpg", &jpeg()).await);
        for query in ["w=", "w=0", "w=161", "w=-160", "w=0160", "w=auto", "w=160&w=160", "w=99999999999999999999"] {
            let refused = send(fixture.server.request(Method::GET, &format!("{path}?{query}"))).await;
            refused.expect_invalid(&["w"]);
            assert_eq!(refused.json()["errors"]["w"], json!(["must be one of 160, 320, 640, 1280"]), "{query}");
        }
        assert_eq!(bytes(fixture.server.request(Method::GET, &format!("{path}?width=7"))).await.2, jpeg());
        let document = place(&fixture.file("3", "a.pdf", PDF).await);
        let refused = send(fixture.server.as_staff(&fixture.owner, Method::GET, &format!("{document}?w=160"))).await;
        refused.expect_invalid(&["w"]);
        assert_eq!(refused.json()["errors"]["w"], json!(["must not be sent: the file is not a picture"]));
        send(fixture.server.request(Method::GET, &format!("/files/{}?w=160", "a".repeat(40)))).await.expect(404);
    }

    async fn copies_of_closed_pictures_are_for_staff_of_the_project(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        let path = format!("{}?w=160", place(&fixture.file("3", "a.jpg", &jpeg()).await));
        let show = async || bytes(fixture.server.as_staff(&fixture.owner, Method::GET, &path)).await;
        for _ in ["before it is made", "after"] {
            assert_eq!(bytes(fixture.server.request(Method::GET, &path)).await.0, 401);
            assert_eq!(bytes(fixture.server.request(Method::GET, &path.replace("160", "161"))).await.0, 401);
            fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
            fixture.as_one_who_may(&["edit-files"], Method::GET, &path, json!({})).await.expect(403);
            let (status, headers, body) = show().await;
            assert_eq!((status, header(&headers, "cache-control"), size(&body)), (200, "private, no-cache", (160, 120)));
            assert!(header(&headers, "vary").starts_with("Authorization"), "{headers:?}");
        }
    }

    async fn a_copy_is_made_once_and_goes_with_its_file(db: TestDatabase) {
        let (fixture, folder) = ProjectFixture::with_files(db, Roles::Both).await;
        let file = fixture.file("2", "a.jpg", &jpeg()).await;
        let path = format!("{}?w=160", place(&file));
        let get = async || bytes(fixture.server.request(Method::GET, &path)).await;
        let own = folder_of(folder.path());
        let copy = own.join("w160");
        let all = futures_util::future::join_all((0..10).map(|_| get()));
        let seen = async {
            let until = Instant::now() + Duration::from_secs(30);
            while !copy.exists() {
                retry_until!(until, "there is no copy");
            }
            std::fs::metadata(&copy).unwrap().ino()
        };
        let (all, first) = tokio::join!(all, seen);
        let (_, _, made) = get().await;
        assert!(all.iter().all(|(status, _, body)| *status == 200 && *body == made));
        assert_eq!(std::fs::metadata(&copy).unwrap().ino(), first, "it was stored once");

        for damage in [&b""[..], b"RIFF", b"junk that is long enough", &made[..made.len() - 1]] {
            std::fs::write(&copy, damage).unwrap();
            assert_eq!(get().await.2, made, "made anew from {} bytes", damage.len());
            assert_eq!(std::fs::read(&copy).unwrap(), made);
        }
        std::fs::remove_file(own.join("content")).unwrap();
        assert_eq!(get().await.2, made, "what is stored is not made again");
        std::fs::remove_file(&copy).unwrap();
        assert_eq!(get().await.0, 404, "there is nothing to make it from");

        let file = fixture.file("2", "b.jpg", &jpeg()).await;
        let path = format!("{}?w=160", place(&file));
        assert_eq!(bytes(fixture.server.request(Method::GET, &path)).await.0, 200);
        let delete = format!("/api/files/{}", file["id"]);
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &delete)).await.expect(200);
        assert_eq!(bytes(fixture.server.request(Method::GET, &path)).await.0, 404);
        let left = || std::fs::read_dir(own.parent().unwrap()).unwrap().count();
        let until = Instant::now() + Duration::from_secs(30);
        while left() != 1 {
            retry_until!(until, "content and copies are removed");
        }
    }
}
