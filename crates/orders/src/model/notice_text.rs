//! Texts of customer notices.

use kontor_kernel::{Language, Money, OrderId};

use super::Notice;

/// Data of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticeSubject<'a> {
    /// Order.
    pub order: OrderId,
    /// Amount received or refunded; for other notices the price of the order.
    pub amount: Money,
    /// Currency, ISO 4217.
    pub currency: &'a str,
}

/// Text of a notice for the customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeText {
    /// Title, one line.
    pub title: String,
    /// Body, if there is one.
    pub body: Option<String>,
}

/// Title and body. `{order}` is replaced by the number of the order, `{sum}` by the amount with its currency.
const fn template(notice: Notice, language: Language) -> (&'static str, Option<&'static str>) {
    match (language, notice) {
        (Language::Ru, Notice::OrderPaid) => ("Заказ № {order} оплачен", Some("Мы получили {sum}.")),
        (Language::Ru, Notice::OrderPaymentFailed) => {
            ("Заказ № {order} не оплачен", Some("Оплата не прошла, заказ отменён."))
        }
        (Language::Ru, Notice::OrderInProcessing) => ("Заказ № {order} в работе", None),
        (Language::Ru, Notice::OrderReady) => ("Заказ № {order} готов", Some("Его можно забрать.")),
        (Language::Ru, Notice::OrderIssued) => ("Заказ № {order} выдан", None),
        (Language::Ru, Notice::OrderCanceled) => ("Заказ № {order} отменён", None),
        (Language::Ru, Notice::OrderExpired) => {
            ("Срок заказа № {order} истёк", Some("Заказ не был подтверждён вовремя и отменён."))
        }
        (Language::Ru, Notice::OrderChanged) => ("Заказ № {order} изменён", Some("Изменился состав заказа.")),
        (Language::Ru, Notice::OrderRefundRequested) => ("Возврат по заказу № {order}", Some("Мы возвращаем {sum}.")),
        (Language::Ru, Notice::OrderRefunded) => ("Деньги по заказу № {order} возвращены", Some("Возвращено {sum}.")),
        (Language::En, Notice::OrderPaid) => ("Order {order} is paid", Some("We have received {sum}.")),
        (Language::En, Notice::OrderPaymentFailed) => {
            ("Order {order} was not paid", Some("The payment did not go through, and the order is canceled."))
        }
        (Language::En, Notice::OrderInProcessing) => ("Order {order} is in processing", None),
        (Language::En, Notice::OrderReady) => ("Order {order} is ready", Some("It can be picked up.")),
        (Language::En, Notice::OrderIssued) => ("Order {order} was handed over", None),
        (Language::En, Notice::OrderCanceled) => ("Order {order} is canceled", None),
        (Language::En, Notice::OrderExpired) => {
            ("Order {order} has expired", Some("It was not confirmed in time and is canceled."))
        }
        (Language::En, Notice::OrderChanged) => ("Order {order} has changed", Some("Its products have changed.")),
        (Language::En, Notice::OrderRefundRequested) => {
            ("Refund of order {order}", Some("{sum} is on its way back to you."))
        }
        (Language::En, Notice::OrderRefunded) => ("Money of order {order} has gone back", Some("{sum} was refunded.")),
    }
}

impl Notice {
    /// Returns the text of the notice.
    ///
    /// ```
    /// use kontor_kernel::{Language, OrderId};
    /// use kontor_orders::model::{Notice, NoticeSubject};
    ///
    /// let subject = NoticeSubject { order: OrderId::new(12)?, amount: "265.50".parse()?, currency: "RUB" };
    /// let text = Notice::OrderPaid.text(Language::En, subject);
    /// assert_eq!(text.title, "Order 12 is paid");
    /// assert_eq!(text.body.as_deref(), Some("We have received 265.50 RUB."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text(self, language: Language, subject: NoticeSubject<'_>) -> NoticeText {
        let (title, body) = template(self, language);
        let (order, sum) = (subject.order.to_string(), language.sum(subject.amount, subject.currency));
        let filled = |text: &str| text.replace("{order}", &order).replace("{sum}", &sum);
        NoticeText { title: filled(title), body: body.map(filled) }
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word as _;

    use super::*;

    fn subject(currency: &str) -> NoticeSubject<'_> {
        NoticeSubject { order: OrderId::new(12).unwrap(), amount: "1234.50".parse().unwrap(), currency }
    }

    #[test]
    fn every_notice_names_its_order_in_every_language() {
        for language in Language::all() {
            let mut titles = Vec::new();
            for notice in Notice::all() {
                let NoticeText { title, body } = notice.text(*language, subject("RUB"));
                let all = format!("{title} {}", body.unwrap_or_default());
                assert!(title.contains("12") && !all.contains(['{', '}']), "{language:?}: {all}");
                let cyrillic = all.contains(|letter: char| ('а'..='я').contains(&letter));
                assert_eq!(cyrillic, *language == Language::Ru, "{all}");
                titles.push(title);
            }
            titles.sort();
            titles.dedup();
            assert_eq!(titles.len(), Notice::all().len(), "{language:?}: two notices have one title");
        }
    }

    #[test]
    fn sums_are_written_as_their_readers_write_them() {
        let body = |language, currency| Notice::OrderRefunded.text(language, subject(currency)).body.unwrap();
        assert_eq!(body(Language::Ru, "RUB"), "Возвращено 1234,50 ₽.");
        assert_eq!(body(Language::Ru, "EUR"), "Возвращено 1234,50 EUR.");
        assert_eq!(body(Language::En, "RUB"), "1234.50 RUB was refunded.");
    }
}
