//! The text of HTML, for search.

/// Elements whose text is not shown.
const HIDDEN_ELEMENTS: [&str; 2] = ["script", "style"];

/// Returns the text between the tags, for search. A tag separates words, as most tags do on a page. HTML that is shown
/// must pass a cleaner instead.
pub(super) fn readable_text(html: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(html.len()), html);
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = after_tag(tag);
        if let Some(unread) = HIDDEN_ELEMENTS.into_iter().find(|name| opens(tag, name)) {
            let end =
                rest.match_indices("</").find(|(place, _)| rest.get(place + 2..).is_some_and(|tag| opens(tag, unread)));
            rest = end.and_then(|(place, _)| rest.get(place..)).unwrap_or_default();
        }
    }
    text.push_str(rest);
    let signs = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    signs.into_iter().fold(text, |text, (written, read)| text.replace(written, read))
}

/// Returns `true` if the tag has this name.
fn opens(tag: &str, name: &str) -> bool {
    let own = tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    own && !tag.get(name.len()..).is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}

/// Returns the text after a tag. Quoted attribute values may contain `>`.
fn after_tag(tag: &str) -> &str {
    if let Some(comment) = tag.strip_prefix("!--") {
        return comment.split_once("-->").map(|(_, rest)| rest).unwrap_or_default();
    }
    let mut quote = None;
    for (place, sign) in tag.char_indices() {
        match (quote, sign) {
            (None, '>') => return tag.get(place + 1..).unwrap_or_default(),
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), _) if open == sign => quote = None,
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_stands_between_the_tags() {
        let text = |html: &str| readable_text(html).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text("<p>One<br>two</p><p title=\"a > b\">three</p>"), "One two three");
        assert_eq!(text("a &lt;b&gt; &amp;amp; c"), "a <b> &amp; c");
        assert_eq!(text("a<script>if (x</y) { b }</script> c <STYLE>d</style> <!-- e > --> f"), "a c f");
        assert_eq!(text("plain"), "plain");
        for cut in ["cut <a href=\"x", "cut <script>x", "cut <!-- x", "cut <"] {
            assert_eq!(text(cut), "cut");
        }
    }

    #[test]
    fn a_tag_ends_behind_its_values_in_quotes() {
        let text = |html: &str| readable_text(html).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text("<a title='>\"'>one</a>"), "one");
        assert_eq!(text("<a title=\"'>\">one</a>"), "one");
        assert_eq!(text("<!-- \" --> one"), "one");
    }

    #[test]
    fn only_a_whole_name_is_an_element_nobody_reads() {
        let text = |html: &str| readable_text(html).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text("<scripts>one</scripts> <style2>two</style2> <styl>three"), "one two three");
        assert_eq!(text("<script src=x>no</script >one"), "one");
        assert_eq!(text("<style>no</styles>no</style>one"), "one");
    }
}
