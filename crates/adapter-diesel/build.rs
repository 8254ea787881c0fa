//! The embedded migrations are read by a macro: a new file alone must rebuild the crate.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
