//! The language of a project.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::Money;

/// The language in which a project speaks to its customers, by its code in ISO 639-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Language {
    /// Russian; of projects that have chosen none.
    #[default]
    Ru,
    /// English.
    En,
}

impl Language {
    /// An amount with its currency (ISO 4217), as people write it.
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
