//! A small reader of Rust sources: it finds which modules a file uses, from `use` lines and inline paths. Comments,
//! attributes and tests are ignored. Strings count as words only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A module as its path below the crate; the crate itself is empty.
pub type Module = Vec<String>;

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_for_tests(attribute: &TokenStream) -> bool {
    matches!(attribute.to_string().replace(' ', "").as_str(), "cfg(test)" | "test")
}

/// Returns the number of tokens of the item at the start.
fn item_length(tokens: &[TokenTree]) -> usize {
    let is_end = |token: &TokenTree| {
        let is_body = matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        is_body || is_sign(token, ';')
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |last| last + 1)
}

/// A path as written, and the name a `use` gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    path: Vec<String>,
    name: Option<String>,
}

/// Relevant parts of one file.
#[derive(Debug, Default)]
struct Read {
    /// By module: the file itself is empty, modules within it are not.
    uses: Vec<(Module, Named)>,
    inline: Vec<(Module, Vec<String>)>,
    modules: Vec<Module>,
    /// Modules in separate files that are compiled for tests only.
    tests: Vec<Module>,
    /// All words of its strings.
    words: BTreeSet<String>,
}

/// Expands a tree of `use`.
fn tree(tokens: &[TokenTree], before: &[String], found: &mut Vec<Named>) {
    let mut path = before.to_vec();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "as" => {
                let name = tokens.get(place + 1).map(ToString::to_string);
                return found.push(Named { path, name });
            }
            TokenTree::Ident(word) => path.push(word.to_string()),
            TokenTree::Group(branches) => {
                let branches: Vec<TokenTree> = branches.stream().into_iter().collect();
                let branches = branches.split(|token| is_sign(token, ',')).filter(|branch| !branch.is_empty());
                return branches.for_each(|branch| tree(branch, &path, found));
            }
            token if is_sign(token, '*') => return found.push(Named { path, name: None }),
            _ => {}
        }
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = path.last().cloned();
    found.push(Named { path, name });
}

impl Read {
    fn of(source: &str) -> Self {
        let mut read = Self::default();
        read.block(source.parse().unwrap(), &Module::new());
        read
    }

    fn block(&mut self, tokens: TokenStream, module: &Module) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut place, mut for_tests) = (0, false);
        while place < tokens.len() {
            let (before, rest) = tokens.split_at(place);
            match rest {
                [sign, TokenTree::Group(attribute), ..] if is_sign(sign, '#') => {
                    for_tests |= is_for_tests(&attribute.stream());
                    place += 2;
                    continue;
                }
                [sign, inner, TokenTree::Group(_), ..] if is_sign(sign, '#') && is_sign(inner, '!') => place += 3,
                [TokenTree::Ident(_), ..] if for_tests => {
                    let length = item_length(rest);
                    if let [.., TokenTree::Ident(item), TokenTree::Ident(name), TokenTree::Punct(_)] = &rest[..length]
                        && item == "mod"
                    {
                        self.tests.push([module.as_slice(), &[name.to_string()]].concat());
                    }
                    place += length;
                }
                [TokenTree::Ident(item), TokenTree::Ident(name), TokenTree::Group(body), ..] if item == "mod" => {
                    let inner = [module.as_slice(), &[name.to_string()]].concat();
                    self.block(body.stream(), &inner);
                    self.modules.push(inner);
                    place += 3;
                }
                [TokenTree::Ident(item), next, ..] if item == "use" && !is_sign(next, '<') => {
                    let length = rest.iter().position(|token| is_sign(token, ';')).unwrap_or(rest.len());
                    let mut found = Vec::new();
                    tree(&rest[1..length], &[], &mut found);
                    self.uses.extend(found.into_iter().map(|named| (module.clone(), named)));
                    place += length;
                }
                // A visibility is not an arrow.
                [TokenTree::Ident(item), TokenTree::Group(_), ..] if item == "pub" => place += 2,
                [TokenTree::Ident(first), ..] => {
                    let mut path = vec![first.to_string()];
                    place += 1;
                    while let [one, other, TokenTree::Ident(name), ..] = &tokens[place..]
                        && is_sign(one, ':')
                        && is_sign(other, ':')
                    {
                        path.push(name.to_string());
                        place += 3;
                    }
                    let continues = matches!(
                        before,
                        [.., TokenTree::Punct(colon), last]
                            if colon.as_char() == ':' && colon.spacing() == Spacing::Joint && is_sign(last, ':')
                    );
                    if path.len() > 1 && !continues {
                        self.inline.push((module.clone(), path));
                    }
                }
                [TokenTree::Group(group), ..] => {
                    self.block(group.stream(), module);
                    place += 1;
                }
                [TokenTree::Literal(literal), ..] => {
                    let text = literal.to_string().replace("\\n", " ");
                    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                    self.words.extend(words.map(ToOwned::to_owned));
                    place += 1;
                }
                _ => place += 1,
            }
            for_tests = false;
        }
    }
}

/// A use of one module by another, as written in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The using module.
    pub from: Module,
    /// The used module, in which the item is declared.
    pub to: Module,
    /// The path as written.
    pub path: String,
}

/// The sources of a crate.
#[derive(Debug, Default)]
pub struct Sources {
    files: BTreeMap<Module, Read>,
    modules: BTreeSet<Module>,
    /// Meaning of names in a module, by its `use` lines.
    names: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl Sources {
    /// Reads everything below a folder.
    pub fn below(folder: &Path) -> Self {
        let mut files = Vec::new();
        gather(folder, &Module::new(), &mut files);
        Self::of(&files.iter().map(|(module, text)| (module.join("::"), text.as_str())).collect::<Vec<_>>())
    }

    /// Reads modules from texts.
    pub fn of(texts: &[(String, &str)]) -> Self {
        let module = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect();
        let mut files: BTreeMap<Module, Read> =
            texts.iter().map(|(name, text)| (module(name), Read::of(text))).collect();
        let test_modules: Vec<Module> = files
            .iter()
            .flat_map(|(file, read)| read.tests.iter().map(move |test| [file.as_slice(), test].concat()))
            .collect();
        files.retain(|file, _| !test_modules.iter().any(|test| file.starts_with(test)));
        let mut sources = Self::default();
        for (file, read) in &files {
            sources.modules.insert(file.clone());
            sources.modules.extend(read.modules.iter().map(|inner| [file.as_slice(), inner].concat()));
            for (inner, named) in &read.uses {
                let names = sources.names.entry([file.as_slice(), inner].concat()).or_default();
                if let Some(name) = &named.name {
                    names.insert(name.clone(), named.path.clone());
                }
            }
        }
        sources.files = files;
        sources
    }

    /// Returns the modules directly below the crate.
    pub fn top(&self) -> BTreeSet<&str> {
        self.modules.iter().filter_map(|module| module.first().map(String::as_str)).collect()
    }

    /// Returns the module whose file contains a module.
    pub fn file_of(&self, module: &[String]) -> Module {
        let mut file = module;
        while let (false, Some((_, above))) = (self.files.contains_key(file), file.split_last()) {
            file = above;
        }
        file.to_vec()
    }

    /// Returns all words in the strings of a module and those below it.
    pub fn words(&self, module: &str) -> BTreeSet<&str> {
        let files = self.files.iter().filter(|(file, _)| file.first().is_some_and(|first| first == module));
        files.flat_map(|(_, read)| read.words.iter().map(String::as_str)).collect()
    }

    /// Returns the other crates that modules name, with the module.
    pub fn crates(&self) -> BTreeSet<(Module, String)> {
        let named = |read: &Read| {
            let uses = read.uses.iter().map(|(_, named)| named.path.clone());
            uses.chain(read.inline.iter().map(|(_, path)| path.clone())).collect::<Vec<_>>()
        };
        let all = self.files.iter().flat_map(|(file, read)| named(read).into_iter().map(move |path| (file, path)));
        all.filter_map(|(file, path)| Some((file.clone(), path.first()?.clone()))).collect()
    }

    /// Follows a path from a module to the module that declares its target; `None` when that is another crate.
    fn target(&self, from: &[String], path: &[String], depth: usize) -> Option<Module> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Module::new(),
            "self" => from.to_vec(),
            "super" => from.split_last()?.1.to_vec(),
            name => {
                let child = [from, &[name.to_owned()]].concat();
                if !self.modules.contains(&child) {
                    return None;
                }
                child
            }
        };
        while let Some((name, left)) = rest.split_first() {
            let child = [at.as_slice(), std::slice::from_ref(name)].concat();
            if name == "super" {
                at.pop();
            } else if self.modules.contains(&child) {
                at = child;
            } else {
                let known = self.names.get(&at).and_then(|names| names.get(name)).filter(|_| depth < 8);
                let further = known.and_then(|known| self.target(&at, &[known.as_slice(), left].concat(), depth + 1));
                return Some(further.unwrap_or(at));
            }
            rest = left;
        }
        Some(at)
    }

    /// Returns every use between two modules.
    pub fn arrows(&self) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for (file, read) in &self.files {
            let uses = read.uses.iter().map(|(inner, named)| (inner, &named.path));
            for (inner, path) in uses.chain(read.inline.iter().map(|(inner, path)| (inner, path))) {
                let from = [file.as_slice(), inner].concat();
                if let Some(to) = self.target(&from, path, 0).filter(|to| *to != from) {
                    arrows.insert(Arrow { from, to, path: path.join("::") });
                }
            }
        }
        arrows
    }
}

fn gather(folder: &Path, module: &Module, files: &mut Vec<(Module, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            gather(&path, &[module.as_slice(), &[name]].concat(), files);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "main" {
            let module = if matches!(name.as_str(), "mod" | "lib") {
                module.clone()
            } else {
                [module.as_slice(), &[name]].concat()
            };
            files.push((module, fs::read_to_string(&path).unwrap()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(texts: &[(&str, &str)]) -> Vec<String> {
        let texts: Vec<(String, &str)> = texts.iter().map(|(name, text)| ((*name).to_owned(), *text)).collect();
        let arrows = Sources::of(&texts).arrows();
        arrows.iter().map(|arrow| format!("{} > {}", arrow.from.join("::"), arrow.to.join("::"))).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn every_form_of_a_path_is_an_arrow() {
        for line in [
            "use crate::b;",
            "use crate::b::Thing;",
            "pub(crate) use crate::b::{self, Thing as Other};",
            "use crate::{b::{Thing, other::*}};",
            "use super::b::Thing;",
            "fn f() { let x = crate::b::call(); }",
            "fn f() -> super::b::Thing<'static> { loop {} }",
            "#[derive(Debug)]\nstruct A(crate::b::Thing);",
            "mod inner { use super::super::b; }",
            "mod inner { fn f() { crate::b::call() } }",
            "#[cfg(feature = \"x\")]\nuse crate::b;",
            "#![doc = \"a\"]\nfn f(x: crate::b::Thing) {}",
        ] {
            let found = arrows(&[("", ""), ("a", line), ("b", "")]);
            assert!(
                !found.is_empty() && found.iter().all(|arrow| arrow.starts_with('a') && arrow.ends_with("> b")),
                "{line}: {found:?}"
            );
        }
    }

    #[test]
    fn comments_and_strings_are_no_dependencies() {
        for line in [
            "// use crate::b;",
            "/// [`crate::b::Thing`]\nfn f() {}",
            "//! [`crate::b::Thing`]",
            "const C: &str = \"use crate::b;\";",
            "#[cfg(test)]\nmod tests { use crate::b; }",
            "#[cfg(test)]\nuse crate::b;",
            "#[cfg(test)]\n#[allow(unused)]\nfn f() { crate::b::call(); }",
            "pub(in crate::b) fn f() {}",
            "use std::b::crate_b;",
            "use other::crate_name;",
        ] {
            assert_eq!(arrows(&[("", ""), ("a", line), ("b", "")]), NONE, "{line}");
        }
    }

    #[test]
    fn tests_in_files_of_their_own_count_for_nothing() {
        for line in ["#[cfg(test)]\nmod tests;", "#[cfg(test)]\npub(crate) mod tests;"] {
            let files = [("", ""), ("a", line), ("a::tests", "use crate::b;"), ("b", "")];
            assert_eq!(arrows(&files), NONE);
        }
        let files = [("", ""), ("a", "mod tests;"), ("a::tests", "use crate::b;"), ("b", "")];
        assert_eq!(arrows(&files), ["a::tests > b"]);
    }

    #[test]
    fn an_item_is_looked_for_where_it_is_declared() {
        let files = [
            ("", "mod a; mod b; pub use b::Thing;"),
            ("a", "use crate::Thing;"),
            ("b", "mod inner; pub use inner::Thing;"),
            ("b::inner", "pub struct Thing;"),
        ];
        assert_eq!(arrows(&files), [" > b::inner", "a > b::inner", "b > b::inner"]);
        let round = [("", ""), ("a", "pub use crate::b::X;"), ("b", "pub use crate::a::X;")];
        assert_eq!(arrows(&round).len(), 2);
    }

    #[test]
    fn a_module_within_a_file_is_below_it() {
        let files = [("", ""), ("a", "mod inner { use super::Thing; }"), ("b", "")];
        assert_eq!(arrows(&files), ["a::inner > a"]);
    }
}
