//! Converts Markdown to HTML with anchors at headings, and rewrites links between guides.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A text of several chapters.
pub(super) struct Prose {
    pub(super) html: String,
    /// The anchor and the title of each chapter.
    pub(super) chapters: Vec<(String, String)>,
}

pub(super) fn prose(text: &str) -> Prose {
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut chapters = Vec::new();
    for at in 0..events.len() {
        let title = title(&events[at..]);
        match &mut events[at] {
            Event::Start(Tag::Heading { level, id, .. }) => {
                let anchor = anchor(&title);
                *id = Some(CowStr::from(anchor.clone()));
                // The first heading is the title of the page.
                if *level == HeadingLevel::H2 || at > 0 && *level == HeadingLevel::H1 {
                    chapters.push((anchor, title));
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                if let Some(page) = page_of_guide(dest_url) {
                    *dest_url = CowStr::from(page);
                }
            }
            _ => {}
        }
    }
    let mut out = String::new();
    html::push_html(&mut out, events.into_iter());
    let html = out
        .replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
        .replace("<pre>", "<pre tabindex=\"0\">");
    Prose { html, chapters }
}

/// The text of the heading at the start of these events, if any.
fn title(events: &[Event<'_>]) -> String {
    if !matches!(events.first(), Some(Event::Start(Tag::Heading { .. }))) {
        return String::new();
    }
    let within = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    within
        .filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
            _ => None,
        })
        .collect()
}

/// In the format of GitHub, where the guides are read too.
fn anchor(title: &str) -> String {
    let kept = title.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// `requests.md#texts` is `/docs/requests#texts`. The README of Medusa's package is a guide too.
fn page_of_guide(link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, ""), |(file, anchor)| (file, anchor));
    let file = file.replace("../clients/medusa/README.md", "medusa.md");
    let name = file.strip_suffix(".md").filter(|name| !name.contains('/'))?;
    let hash = if anchor.is_empty() { "" } else { "#" };
    Some(format!("/docs/{name}{hash}{anchor}"))
}
