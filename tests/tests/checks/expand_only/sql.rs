//! A minimal SQL tokenizer for migrations: words, and the ends of statements and their parts.

/// A word in lower case (a quoted name unchanged), a symbol, or a text, whose content is irrelevant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    Sign(char),
    Text,
}

impl Token {
    pub(crate) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Sign(_) | Self::Text => None,
        }
    }
}

/// The statements of a file, without comments.
pub(crate) fn statements(sql: &str) -> Vec<Vec<Token>> {
    split(&tokens(sql), ';')
}

/// Splits at symbols outside of brackets; omits empty parts.
pub(crate) fn split(tokens: &[Token], at: char) -> Vec<Vec<Token>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0_i32;
    for token in tokens {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            Token::Sign(sign) if *sign == at && depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is a part").push(token.clone());
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether the words occur in sequence.
pub(crate) fn has(tokens: &[Token], words: &str) -> bool {
    let words: Vec<&str> = words.split(' ').collect();
    tokens.windows(words.len()).any(|window| window.iter().zip(&words).all(|(token, word)| token.is(word)))
}

/// Whether it starts with these words.
pub(crate) fn begins(tokens: &[Token], words: &str) -> bool {
    words.split(' ').enumerate().all(|(at, word)| tokens.get(at).is_some_and(|token| token.is(word)))
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if rest.starts_with("--") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (None, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if first == '\'' {
            (Some(Token::Text), end_of(rest, 1, "'"))
        } else if first == '"' {
            let end = end_of(rest, 1, "\"");
            (Some(Token::Word(rest[1..end - 1].to_owned())), end)
        } else if let Some(fence) = fence(rest) {
            (Some(Token::Text), end_of(rest, fence.len(), fence))
        } else if is_of_word(first) {
            let end = rest.find(|sign: char| !is_of_word(sign)).unwrap_or(rest.len());
            (Some(Token::Word(rest[..end].to_lowercase())), end)
        } else {
            (Some(Token::Sign(first)), first.len_utf8())
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
    tokens
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// `$$` or `$body$` at the start of the text.
fn fence(text: &str) -> Option<&str> {
    let end = text.strip_prefix('$')?.find('$')? + 2;
    text[1..end - 1].chars().all(is_of_word).then(|| &text[..end])
}

fn end_of(text: &str, from: usize, close: &str) -> usize {
    text[from..].find(close).map_or(text.len(), |end| from + end + close.len())
}
