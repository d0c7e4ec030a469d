//! The regular expressions that schemas use, matched without backtracking.
//!
//! Only what the tables contain is known: literals, `.`, escapes, classes with ranges, groups, `|`,
//! `* + ?`, `{n,m}`, `^` and `$`. A pattern with anything else matches every text, so that nothing
//! is refused that a server takes.

/// Counted repetitions beyond this are not expanded.
const MAX_REPEAT: usize = 8;

/// Whether a text matches somewhere, as Go's `regexp.MatchString` says.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    Program::compile(pattern).is_none_or(|program| program.matches(text))
}

/// A parsed expression.
#[derive(Clone, Debug)]
enum Expression {
    /// One character of (or, if the flag is set, outside) the ranges.
    Class(bool, Vec<(char, char)>),
    Start,
    End,
    Sequence(Vec<Expression>),
    Either(Vec<Expression>),
    /// At least so often, at most so often.
    Repeat(Box<Expression>, usize, Option<usize>),
}

struct Parser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Parser<'_> {
    fn either(&mut self) -> Option<Expression> {
        let mut choices = vec![self.sequence()?];
        while self.rest.next_if_eq(&'|').is_some() {
            choices.push(self.sequence()?);
        }
        Some(if choices.len() == 1 { choices.remove(0) } else { Expression::Either(choices) })
    }

    fn sequence(&mut self) -> Option<Expression> {
        let mut parts = Vec::new();
        while let Some(c) = self.rest.next_if(|c| !matches!(c, '|' | ')')) {
            let mut part = match c {
                '^' => Expression::Start,
                '$' => Expression::End,
                '.' => Expression::Class(true, vec![('\n', '\n')]),
                '[' => self.class()?,
                '\\' => one(self.escaped()?),
                '(' => {
                    let inner = self.either()?;
                    self.rest.next_if_eq(&')')?;
                    inner
                }
                '*' | '+' | '?' => return None,
                c => one(c),
            };
            while let Some((least, most)) = self.repetition()? {
                part = Expression::Repeat(Box::new(part), least, most);
            }
            parts.push(part);
        }
        Some(Expression::Sequence(parts))
    }

    /// `Some(None)`: none follows.
    #[expect(
        clippy::option_option,
        reason = "the outer one says that the pattern is not understood"
    )]
    fn repetition(&mut self) -> Option<Option<(usize, Option<usize>)>> {
        Some(match self.rest.next_if(|c| matches!(c, '*' | '+' | '?' | '{')) {
            None => None,
            Some('*') => Some((0, None)),
            Some('+') => Some((1, None)),
            Some('?') => Some((0, Some(1))),
            Some(_) => {
                let mut bounds = String::new();
                while let Some(c) = self.rest.next_if(|c| *c != '}') {
                    bounds.push(c);
                }
                self.rest.next_if_eq(&'}')?;
                let number =
                    |text: &str| text.parse::<usize>().ok().filter(|number| *number <= MAX_REPEAT);
                let (least, most) = match bounds.split_once(',') {
                    None => (number(&bounds)?, Some(number(&bounds)?)),
                    Some((least, "")) => (number(least)?, None),
                    Some((least, most)) => (number(least)?, Some(number(most)?)),
                };
                Some((least, most))
            }
        })
    }

    fn class(&mut self) -> Option<Expression> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges = Vec::new();
        let mut first = true;
        loop {
            let from = match self.rest.next()? {
                ']' if !first => return Some(Expression::Class(negated, ranges)),
                '\\' => self.escaped()?,
                c => c,
            };
            first = false;
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']') {
                self.rest.next();
                let to = match self.rest.next()? {
                    '\\' => self.escaped()?,
                    c => c,
                };
                ranges.push((from, to));
            } else {
                ranges.push((from, from));
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        match self.rest.next()? {
            'x' => {
                let digits: String = [self.rest.next()?, self.rest.next()?].iter().collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
            }
            c if c.is_ascii_punctuation() => Some(c),
            _ => None,
        }
    }
}

fn one(c: char) -> Expression {
    Expression::Class(false, vec![(c, c)])
}

#[derive(Debug)]
enum Step {
    Class(bool, Vec<(char, char)>),
    Start,
    End,
    /// Goes on at both places.
    Both(usize, usize),
    Jump(usize),
    Match,
}

struct Program(Vec<Step>);

impl Program {
    fn compile(pattern: &str) -> Option<Self> {
        let mut parser = Parser { rest: pattern.chars().peekable() };
        let expression = parser.either()?;
        if parser.rest.next().is_some() {
            return None;
        }
        let mut program = Self(Vec::new());
        program.add(&expression);
        program.0.push(Step::Match);
        Some(program)
    }

    fn add(&mut self, expression: &Expression) {
        match expression {
            Expression::Class(negated, ranges) => {
                self.0.push(Step::Class(*negated, ranges.clone()));
            }
            Expression::Start => self.0.push(Step::Start),
            Expression::End => self.0.push(Step::End),
            Expression::Sequence(parts) => parts.iter().for_each(|part| self.add(part)),
            Expression::Either(choices) => {
                let mut ends = Vec::new();
                for (index, choice) in choices.iter().enumerate() {
                    if index + 1 < choices.len() {
                        let fork = self.fork();
                        self.add(choice);
                        ends.push(self.0.len());
                        self.0.push(Step::Match);
                        self.0[fork] = Step::Both(fork + 1, self.0.len());
                    } else {
                        self.add(choice);
                    }
                }
                for end in ends {
                    self.0[end] = Step::Jump(self.0.len());
                }
            }
            Expression::Repeat(part, least, most) => {
                for _ in 0..*least {
                    self.add(part);
                }
                if let Some(most) = most {
                    let forks: Vec<usize> = (*least..*most)
                        .map(|_| {
                            let fork = self.fork();
                            self.add(part);
                            fork
                        })
                        .collect();
                    for fork in forks {
                        self.0[fork] = Step::Both(fork + 1, self.0.len());
                    }
                } else {
                    let fork = self.fork();
                    self.add(part);
                    self.0.push(Step::Jump(fork));
                    self.0[fork] = Step::Both(fork + 1, self.0.len());
                }
            }
        }
    }

    /// A place for a fork whose targets are filled in later.
    fn fork(&mut self) -> usize {
        self.0.push(Step::Match);
        self.0.len() - 1
    }

    fn matches(&self, text: &str) -> bool {
        let mut now = Vec::new();
        let mut seen = vec![usize::MAX; self.0.len()];
        let mut chars = text.chars();
        for place in 0.. {
            let next = chars.next();
            // A match may begin anywhere.
            if self.follow(0, place, next.is_none(), &mut seen, &mut now) {
                return true;
            }
            let Some(c) = next else { return false };
            let after = chars.as_str().is_empty();
            let mut then = Vec::new();
            for at in now.drain(..) {
                if let Step::Class(negated, ranges) = &self.0[at]
                    && ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
                    && self.follow(at + 1, place + 1, after, &mut seen, &mut then)
                {
                    return true;
                }
            }
            now = then;
        }
        false
    }

    /// Adds every step that reads a character and can be reached from `from`; true when the end can
    /// be.
    fn follow(
        &self,
        from: usize,
        place: usize,
        last: bool,
        seen: &mut [usize],
        states: &mut Vec<usize>,
    ) -> bool {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at], place) == place {
                continue;
            }
            match &self.0[at] {
                Step::Match => return true,
                Step::Class(..) => states.push(at),
                Step::Start if place == 0 => open.push(at + 1),
                Step::End if last => open.push(at + 1),
                Step::Start | Step::End => {}
                Step::Both(one, other) => open.extend([*other, *one]),
                Step::Jump(to) => open.push(*to),
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::TABLES;

    #[test]
    fn matches_as_go_does() {
        for (pattern, text, expected) in [
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", true),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-", false),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "", false),
            ("^$|^a+$", "", true),
            ("^$|^a+$", "aaa", true),
            ("^$|^a+$", "aab", false),
            ("^([0-9]{1,5}(h|m|s|ms)){1,4}$", "10s500ms", true),
            ("^([0-9]{1,5}(h|m|s|ms)){1,4}$", "123456s", false),
            ("^([0-9]{1,5}(h|m|s|ms)){1,4}$", "1s1s1s1s1s", false),
            ("^(http|https)://", "https://x", true),
            ("^(http|https)://", "ftp://x", false),
            ("^/.*", "/a", true),
            ("^/", "a/", false),
            ("b", "abc", true),
            ("^(hf://|s3://).+", "s3://", false),
            ("^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$", "X-Header_`1", true),
            ("^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$", "a b", false),
            ("(^\\*$)|(^(http(s)?):\\/\\/\\w)", "anything, for \\w is not known", true),
            ("^(a*)*$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn every_pattern_of_the_tables_is_understood() {
        let mut count = 0;
        for definition in TABLES.iter().flat_map(crate::schema::table::Table::definitions) {
            for line in definition.body().lines() {
                let Some((_, rest)) = line.split_once("pattern=") else { continue };
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
                let pattern = values.next().unwrap().unwrap();
                assert!(Program::compile(&pattern).is_some(), "{pattern}");
                count += 1;
            }
        }
        assert!(count > 30, "{count}");
    }
}
