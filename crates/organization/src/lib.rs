//! Projects, branches, applications, shops and dictionaries.
