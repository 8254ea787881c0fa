//! Language of a project.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::Money;

/// Language of messages to the customers of a project, by its ISO 639-1 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Language {
    /// Russian; the default.
    #[default]
    Ru,
    /// English.
    En,
}

impl Language {
    /// Formats an amount with its currency (ISO 4217) in the notation of the language.
    ///
    /// ```
    /// use kontor_kernel::{Language, Money};
    ///
    /// let amount: Money = "265.50".parse()?;
    /// assert_eq!(Language::Ru.sum(amount, "RUB"), "265,50 ₽");
    /// assert_eq!(Language::En.sum(amount, "RUB"), "265.50 RUB");
    /// # Ok::<(), kontor_kernel::MoneyError>(())
    /// ```
    pub fn sum(self, amount: Money, currency: &str) -> String {
        match self {
            Self::Ru => {
                let sign = if currency == "RUB" { "₽" } else { currency };
                format!("{} {sign}", amount.to_string().replace('.', ","))
            }
            Self::En => format!("{amount} {currency}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_as_people_of_the_language_do() {
        let amount: Money = "1265.50".parse().unwrap();
        assert_eq!(Language::Ru.sum(amount, "RUB"), "1265,50 ₽");
        assert_eq!(Language::Ru.sum(amount, "USD"), "1265,50 USD");
        assert_eq!(Language::En.sum(amount, "RUB"), "1265.50 RUB");
    }
}
