//! Metrics are expressions: numbers, names, `+ - * /`, parentheses, `min(a, b)`, `max(a, b)`.

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Name(String),
    Negate(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the expression is wrong at character {at}: {what}")]
pub struct ExpressionError {
    /// Where, in bytes from 0.
    pub at: usize,
    /// What was expected or found.
    pub what: String,
}

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluation {
    /// A value.
    Value(f64),
    /// A name has no value.
    Missing(String),
    /// Something is divided by zero.
    Undefined,
}

/// How deep parentheses may nest, so that parsing and evaluating cannot exhaust a small stack.
const DEPTH: usize = 64;

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] with the place.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let root = parser.sum()?;
        parser.space();
        if parser.at < text.len() { Err(parser.error("this was not expected")) } else { Ok(Self { root }) }
    }

    /// The names in the expression, each once, in order of appearance.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.names(&mut names);
        names
    }

    /// Computes the value with `value` answering for names.
    pub fn evaluate(&self, value: &dyn Fn(&str) -> Option<f64>) -> Evaluation {
        match self.root.evaluate(value) {
            Ok(result) => Evaluation::Value(result),
            Err(Some(name)) => Evaluation::Missing(name.to_owned()),
            Err(None) => Evaluation::Undefined,
        }
    }
}

impl Node {
    fn names<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Node::Number(_) => {}
            Node::Name(name) if into.contains(&name.as_str()) => {}
            Node::Name(name) => into.push(name),
            Node::Negate(inner) => inner.names(into),
            Node::Binary(_, left, right) => {
                left.names(into);
                right.names(into);
            }
        }
    }

    /// `Err(Some(name))`: the name has no value. `Err(None)`: division by zero.
    fn evaluate<'a>(&'a self, value: &dyn Fn(&str) -> Option<f64>) -> Result<f64, Option<&'a str>> {
        Ok(match self {
            Node::Number(number) => *number,
            Node::Name(name) => value(name).ok_or(Some(name.as_str()))?,
            Node::Negate(inner) => -inner.evaluate(value)?,
            Node::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate(value)?, right.evaluate(value)?);
                match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide if right == 0.0 => return Err(None),
                    Operator::Divide => left / right,
                    Operator::Min => left.min(right),
                    Operator::Max => left.max(right),
                }
            }
        })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, what: &str) -> ExpressionError {
        ExpressionError { at: self.at, what: what.to_owned() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes `symbol` if it comes next.
    fn take(&mut self, symbol: char) -> bool {
        self.space();
        let found = self.rest().starts_with(symbol);
        self.at += if found { symbol.len_utf8() } else { 0 };
        found
    }

    /// Takes the longest prefix of characters that fit.
    fn word(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.product()?;
        loop {
            let operator = match () {
                () if self.take('+') => Operator::Add,
                () if self.take('-') => Operator::Subtract,
                () => return Ok(left),
            };
            left = Node::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.factor()?;
        loop {
            let operator = match () {
                () if self.take('*') => Operator::Multiply,
                () if self.take('/') => Operator::Divide,
                () => return Ok(left),
            };
            left = Node::Binary(operator, Box::new(left), Box::new(self.factor()?));
        }
    }

    fn factor(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error("it is nested too deeply"));
        }
        let node = self.factor_within()?;
        self.depth -= 1;
        Ok(node)
    }

    fn factor_within(&mut self) -> Result<Node, ExpressionError> {
        if self.take('-') {
            return Ok(Node::Negate(Box::new(self.factor()?)));
        }
        if self.take('(') {
            let inner = self.sum()?;
            return if self.take(')') { Ok(inner) } else { Err(self.error("a closing parenthesis was expected")) };
        }
        match self.rest().chars().next() {
            Some(c) if c.is_ascii_digit() => {
                let start = self.at;
                let word = self.word(|c| c.is_ascii_digit() || c == '.');
                word.parse().map(Node::Number).map_err(|_| {
                    self.at = start;
                    self.error("this is not a number")
                })
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
                let function = match name {
                    "min" => Operator::Min,
                    "max" => Operator::Max,
                    _ => return Ok(Node::Name(name.to_owned())),
                };
                if !self.take('(') {
                    return Err(self.error("an opening parenthesis was expected"));
                }
                let left = self.sum()?;
                if !self.take(',') {
                    return Err(self.error("a comma was expected"));
                }
                let right = self.sum()?;
                if !self.take(')') {
                    return Err(self.error("a closing parenthesis was expected"));
                }
                Ok(Node::Binary(function, Box::new(left), Box::new(right)))
            }
            _ => Err(self.error("a number, a name or a parenthesis was expected")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Evaluation {
        Expression::parse(text).expect("parses").evaluate(&|name| match name {
            "A" => Some(6.0),
            "B_2" => Some(4.0),
            "ZERO" => Some(0.0),
            _ => None,
        })
    }

    #[test]
    fn arithmetic_has_the_usual_order() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("64 / 4 / 2", 8.0),
            ("-A + 2*-B_2", -14.0),
            ("100*A/B_2", 150.0),
            ("max(A, B_2) - min(A,B_2)", 2.0),
            ("(A*32 + (B_2 - A)*64) / 1024", (6.0 * 32.0 - 128.0) / 1024.0),
            (" 2.5 ", 2.5),
        ] {
            assert_eq!(value(text), Evaluation::Value(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        assert_eq!(value("A / ZERO"), Evaluation::Undefined);
        assert_eq!(value("A / (B_2 - 4)"), Evaluation::Undefined);
        assert_eq!(value("A + C"), Evaluation::Missing("C".to_owned()));
    }

    #[test]
    fn what_is_wrong_says_where() {
        for (text, at) in
            [("", 0), ("1 +", 3), ("(1", 2), ("1 2", 2), ("A $", 2), ("min(1)", 5), ("1..2", 0), ("max 1", 4), (")", 0)]
        {
            assert_eq!(Expression::parse(text).expect_err(text).at, at, "{text}");
        }
        let deep = "(".repeat(10_000);
        assert!(Expression::parse(&deep).expect_err("too deep").what.contains("deeply"));
    }

    #[test]
    fn names_come_once_and_in_order() {
        let expression = Expression::parse("B * A + max(A, C) / B").expect("parses");
        assert_eq!(expression.names(), ["B", "A", "C"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_or_errs_inside(text in ".{0,40}") {
            if let Err(error) = Expression::parse(&text) {
                proptest::prop_assert!(error.at <= text.len());
            }
        }
    }
}
