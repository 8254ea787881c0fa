//! A small reader of Rust sources: it finds which modules a file uses, from `use` lines and inline paths. Comments,
//! strings and tests are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module as its path below the crate; the crate itself is empty.
pub type Module = Vec<String>;

/// Relevant parts of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Colons,
    Sign(char),
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Reads up to the end of a string that has begun; `hashes` of a raw one.
fn text(letters: &[char], mut place: usize, hashes: Option<usize>) -> (String, usize) {
    let mut text = String::new();
    while let Some(letter) = letters.get(place) {
        match (letter, hashes) {
            ('\\', None) => place += 1,
            ('"', None) => return (text, place + 1),
            ('"', Some(count))
                if letters.iter().skip(place + 1).take(count).filter(|sign| **sign == '#').count() == count =>
            {
                return (text, place + 1 + count);
            }
            _ => text.push(*letter),
        }
        place += 1;
    }
    (text, place)
}

fn comment(letters: &[char], mut place: usize) -> usize {
    if letters.get(place + 1) == Some(&'/') {
        while letters.get(place).is_some_and(|letter| *letter != '\n') {
            place += 1;
        }
        return place;
    }
    let mut depth = 0;
    while place < letters.len() {
        match (letters[place], letters.get(place + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                place += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                place += 2;
                if depth == 0 {
                    return place;
                }
            }
            _ => place += 1,
        }
    }
    place
}

fn tokens(source: &str) -> Vec<Token> {
    let letters: Vec<char> = source.chars().collect();
    let (mut tokens, mut place) = (Vec::new(), 0);
    while let Some(&letter) = letters.get(place) {
        let next = letters.get(place + 1).copied();
        match letter {
            '/' if matches!(next, Some('/' | '*')) => place = comment(&letters, place),
            '"' => {
                let (read, end) = text(&letters, place + 1, None);
                tokens.push(Token::Text(read));
                place = end;
            }
            // A character literal, or a lifetime.
            '\'' => {
                let end = if next == Some('\\') {
                    letters.iter().skip(place + 3).position(|sign| *sign == '\'')
                } else {
                    None
                };
                place += match end {
                    Some(length) => length + 4,
                    None if letters.get(place + 2) == Some(&'\'') => 3,
                    None => 1,
                };
            }
            ':' if next == Some(':') => {
                tokens.push(Token::Colons);
                place += 2;
            }
            _ if is_word(letter) => {
                let word: String = letters.iter().skip(place).take_while(|letter| is_word(**letter)).collect();
                place += word.chars().count();
                let hashes = letters.iter().skip(place).take_while(|sign| **sign == '#').count();
                if matches!(word.as_str(), "r" | "br" | "b") && letters.get(place + hashes) == Some(&'"') {
                    let (read, end) = text(&letters, place + hashes + 1, (word != "b").then_some(hashes));
                    tokens.push(Token::Text(read));
                    place = end;
                } else {
                    tokens.push(Token::Word(word));
                }
            }
            _ => {
                if !letter.is_whitespace() {
                    tokens.push(Token::Sign(letter));
                }
                place += 1;
            }
        }
    }
    tokens
}

fn word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    }
}

fn sign(token: Option<&Token>) -> Option<char> {
    match token {
        Some(Token::Sign(sign)) => Some(*sign),
        _ => None,
    }
}

/// Returns the position after the bracketed part that starts here.
fn behind(tokens: &[Token], mut place: usize) -> usize {
    let mut depth = 0;
    while place < tokens.len() {
        match sign(tokens.get(place)) {
            Some('{' | '(' | '[') => depth += 1,
            Some('}' | ')' | ']') => {
                depth -= 1;
                if depth == 0 {
                    return place + 1;
                }
            }
            _ => {}
        }
        place += 1;
    }
    place
}

/// Returns the position after one item: its block, or its semicolon.
fn behind_item(tokens: &[Token], mut place: usize) -> usize {
    while place < tokens.len() {
        match sign(tokens.get(place)) {
            Some(';') => return place + 1,
            Some('{') => return behind(tokens, place),
            Some('(' | '[') => place = behind(tokens, place),
            _ => place += 1,
        }
    }
    place
}

fn is_for_tests(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().filter_map(|token| word(Some(token))).collect();
    matches!(words.as_slice(), ["cfg", "test"] | ["test"])
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
fn tree(tokens: &[Token], mut place: usize, before: &[String], found: &mut Vec<Named>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(place) {
            Some(Token::Word(word)) if word == "as" => {
                let name = self::word(tokens.get(place + 1)).map(ToOwned::to_owned);
                found.push(Named { path, name });
                return place + 2;
            }
            Some(Token::Word(word)) => {
                path.push(word.clone());
                place += 1;
            }
            Some(Token::Colons) => place += 1,
            Some(Token::Sign('*')) => {
                found.push(Named { path, name: None });
                return place + 1;
            }
            Some(Token::Sign('{')) => {
                place += 1;
                while place < tokens.len() && sign(tokens.get(place)) != Some('}') {
                    place = tree(tokens, place, &path, found);
                    if sign(tokens.get(place)) == Some(',') {
                        place += 1;
                    }
                }
                return place + 1;
            }
            _ => {
                if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                    path.pop();
                }
                let name = path.last().cloned();
                found.push(Named { path, name });
                return place;
            }
        }
    }
}

impl Read {
    fn of(source: &str) -> Self {
        let mut read = Self::default();
        read.block(&tokens(source), &Module::new());
        read
    }

    fn block(&mut self, tokens: &[Token], module: &Module) {
        let mut place = 0;
        let mut for_tests = false;
        while place < tokens.len() {
            let next = tokens.get(place + 1);
            match &tokens[place] {
                Token::Sign('#') if sign(next) == Some('[') => {
                    let end = behind(tokens, place + 1);
                    for_tests |= is_for_tests(&tokens[place..end]);
                    place = end;
                    continue;
                }
                Token::Word(item) if for_tests => {
                    if let ("mod", Some(name), Some(';')) = (item.as_str(), word(next), sign(tokens.get(place + 2))) {
                        self.tests.push([module.as_slice(), &[name.to_owned()]].concat());
                    }
                    place = behind_item(tokens, place);
                }
                Token::Word(item) if item == "mod" && sign(tokens.get(place + 2)) == Some('{') => {
                    let end = behind(tokens, place + 2);
                    let inner = [module.as_slice(), &[word(next).unwrap().to_owned()]].concat();
                    self.block(&tokens[place + 3..end - 1], &inner);
                    self.modules.push(inner);
                    place = end;
                }
                Token::Word(item) if item == "use" => {
                    let mut found = Vec::new();
                    place = tree(tokens, place + 1, &[], &mut found);
                    self.uses.extend(found.into_iter().map(|named| (module.clone(), named)));
                }
                // A visibility is not an arrow.
                Token::Word(item) if item == "pub" && sign(next) == Some('(') => place = behind(tokens, place + 1),
                Token::Word(first) => {
                    let mut path = vec![first.clone()];
                    let begins = place == 0 || tokens[place - 1] != Token::Colons;
                    place += 1;
                    while let (Some(Token::Colons), Some(name)) = (tokens.get(place), word(tokens.get(place + 1))) {
                        path.push(name.to_owned());
                        place += 2;
                    }
                    if begins && path.len() > 1 {
                        self.inline.push((module.clone(), path));
                    }
                }
                Token::Text(text) => {
                    self.words.extend(text.split(|letter| !is_word(letter)).map(ToOwned::to_owned));
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
            "const C: char = '\\''; use crate::b;",
            "const C: char = '\"'; use crate::b;",
            "const C: &str = r#\"\"use\"#; use crate::b;",
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
            "/* use crate::b; /* use crate::b; */ use crate::b; */",
            "const C: &str = \"use crate::b;\";",
            "const C: &str = \"\\\"; use crate::b;\";",
            "const C: &str = r#\"\"use crate::b;\"#;",
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
        let files = [("", ""), ("a", "#[cfg(test)]\nmod tests;"), ("a::tests", "use crate::b;"), ("b", "")];
        assert_eq!(arrows(&files), NONE);
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
    fn a_module_within_a_file_stands_below_it() {
        let files = [("", ""), ("a", "mod inner { use super::Thing; }"), ("b", "")];
        assert_eq!(arrows(&files), ["a::inner > a"]);
    }
}
