//! Tool: one piece of work, carried out by one operation of the API.

/// Effect of a tool. The classes are those of the policy for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Changes nothing.
    Read,
    /// Changes what another write takes back.
    Write,
    /// Moves money, or changes prices, stock or what customers owe.
    Money,
    /// Ends or deletes what cannot be restored.
    Destructive,
}

/// Tool for agents. Schemas and permissions are those of its operation.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Name, unique among the tools.
    pub name: &'static str,
    /// Description for models.
    pub about: &'static str,
    /// Effect.
    pub class: Class,
    /// Method and path template of the operation.
    pub operation: &'static str,
    /// Arguments that fill placeholders of the path: argument and placeholder.
    pub ids: &'static [(&'static str, &'static str)],
    /// Fields of the body or the query string that are arguments. Required fields must be among them.
    pub takes: &'static [&'static str],
    /// Fields of the records in the response that the output schema lists.
    pub shows: &'static [&'static str],
    /// JSON object with arguments.
    pub example: &'static str,
}

macro_rules! classes {
    ($($name:ident => $class:ident,)+) => {$(
        #[doc = concat!("Creates a tool of the class `", stringify!($class), "`.")]
        pub const fn $name(
            name: &'static str,
            about: &'static str,
            operation: &'static str,
        ) -> Self {
            Self {
                name,
                about,
                class: Class::$class,
                operation,
                ids: &[],
                takes: &[],
                shows: &[],
                example: "{}",
            }
        }
    )+};
}

impl Tool {
    classes! {
        read => Read,
        write => Write,
        money => Money,
        destructive => Destructive,
    }

    /// Names the arguments that fill placeholders of the path.
    #[must_use]
    pub const fn ids(mut self, ids: &'static [(&'static str, &'static str)]) -> Self {
        self.ids = ids;
        self
    }

    /// Names the fields that are arguments.
    #[must_use]
    pub const fn takes(mut self, fields: &'static [&'static str]) -> Self {
        self.takes = fields;
        self
    }

    /// Names the fields of the output schema.
    #[must_use]
    pub const fn shows(mut self, fields: &'static [&'static str]) -> Self {
        self.shows = fields;
        self
    }

    /// Sets the example.
    #[must_use]
    pub const fn example(mut self, arguments: &'static str) -> Self {
        self.example = arguments;
        self
    }
}
