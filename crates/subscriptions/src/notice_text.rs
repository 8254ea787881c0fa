//! Texts of customer notices.

use chrono::{DateTime, Utc};
use kontor_kernel::{Language, Money, Zone};

use crate::effect::SubscriptionNotice::{
    self, SubscriptionActivated, SubscriptionCanceled, SubscriptionChargeAhead, SubscriptionEnded, SubscriptionEnding,
    SubscriptionMethodChanged, SubscriptionMethodNeeded, SubscriptionMissedPaid, SubscriptionOnHold,
    SubscriptionPaymentFailed, SubscriptionRefunded, SubscriptionRenewed, SubscriptionRescheduled, SubscriptionResumed,
    SubscriptionTermsChanged,
};

/// Data of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionSubject<'a> {
    /// Display name of the plan.
    pub plan: &'a str,
    /// Amount of the last or current charge.
    pub amount: Money,
    /// Amount of the next charge.
    pub next_amount: Money,
    /// Currency of both amounts, ISO 4217.
    pub currency: &'a str,
    /// End of the paid period.
    pub paid_until: Option<DateTime<Utc>>,
    /// Time of the next charge.
    pub next_charge_at: Option<DateTime<Utc>>,
    /// Time zone of the dates in the text.
    pub zone: Zone,
}

/// Title and body. Placeholders:
///
/// - `{sum}`: the charged amount with its currency
/// - `{until}`: the day until which the subscription is paid
/// - `{next_sum}` and `{next}`: amount and day of the next charge
/// - `{again}`: both of these
const fn template(notice: SubscriptionNotice, language: Language) -> (&'static str, &'static str) {
    match (language, notice) {
        (Language::Ru, SubscriptionActivated) => ("Подписка оформлена", "Мы получили {sum}. Оплачено до {until}."),
        (Language::Ru, SubscriptionRenewed) => ("Подписка продлена", "Мы получили {sum}. Оплачено до {until}."),
        (Language::Ru, SubscriptionMissedPaid) => ("Пропущенный период оплачен", "Мы получили {sum}."),
        (Language::Ru, SubscriptionPaymentFailed) => {
            ("Оплата подписки не прошла", "Списать {sum} не удалось. Следующая попытка: {again}.")
        }
        (Language::Ru, SubscriptionMethodNeeded) => {
            ("Подписке нужен способ оплаты", "Добавьте способ оплаты, чтобы подписка не прервалась.")
        }
        (Language::Ru, SubscriptionMethodChanged) => {
            ("Способ оплаты подписки изменён", "Следующее списание: {next_sum}, {next}.")
        }
        (Language::Ru, SubscriptionTermsChanged) => {
            ("Условия подписки изменены", "Со следующего списания: {next_sum}.")
        }
        (Language::Ru, SubscriptionCanceled) => ("Подписка отменена", "Списаний больше не будет."),
        (Language::Ru, SubscriptionResumed) => ("Подписка возобновлена", "Следующее списание: {next_sum}, {next}."),
        (Language::Ru, SubscriptionChargeAhead) => ("Скоро продление подписки", "{next} мы спишем {next_sum}."),
        (Language::Ru, SubscriptionRescheduled) => {
            ("День оплаты подписки изменён", "Следующее списание: {next_sum}, {next}. Оплачено до {until}.")
        }
        (Language::Ru, SubscriptionOnHold) => {
            ("Продление подписки приостановлено", "Пока мы не проверим оплату, списаний не будет. Оплачено до {until}.")
        }
        (Language::Ru, SubscriptionEnding) => ("Подписка закончится", "Оплачено до {until}, продления не будет."),
        (Language::Ru, SubscriptionEnded) => ("Подписка закончилась", "Списаний больше не будет."),
        (Language::Ru, SubscriptionRefunded) => ("Деньги за подписку возвращены", "Мы возвращаем деньги."),
        (Language::En, SubscriptionActivated) => {
            ("Your subscription has begun", "We have received {sum}. Paid until {until}.")
        }
        (Language::En, SubscriptionRenewed) => {
            ("Your subscription was renewed", "We have received {sum}. Paid until {until}.")
        }
        (Language::En, SubscriptionMissedPaid) => ("A missed period is paid", "We have received {sum}."),
        (Language::En, SubscriptionPaymentFailed) => {
            ("The payment of your subscription failed", "{sum} could not be charged. Next try: {again}.")
        }
        (Language::En, SubscriptionMethodNeeded) => {
            ("Your subscription needs a payment method", "Add one, so that the subscription goes on.")
        }
        (Language::En, SubscriptionMethodChanged) => {
            ("The payment method of your subscription was changed", "Next charge: {next_sum}, {next}.")
        }
        (Language::En, SubscriptionTermsChanged) => {
            ("The terms of your subscription were changed", "From the next charge on: {next_sum}.")
        }
        (Language::En, SubscriptionCanceled) => ("Your subscription is canceled", "Nothing will be charged any more."),
        (Language::En, SubscriptionResumed) => ("Your subscription was resumed", "Next charge: {next_sum}, {next}."),
        (Language::En, SubscriptionChargeAhead) => {
            ("Your subscription renews soon", "We will charge {next_sum} on {next}.")
        }
        (Language::En, SubscriptionRescheduled) => {
            ("The payment day of your subscription was changed", "Next charge: {next_sum}, {next}. Paid until {until}.")
        }
        (Language::En, SubscriptionOnHold) => (
            "Your subscription is on hold",
            "Nothing is charged until we have checked the payment. Paid until {until}.",
        ),
        (Language::En, SubscriptionEnding) => ("Your subscription will end", "Paid until {until}, and not renewed."),
        (Language::En, SubscriptionEnded) => ("Your subscription has ended", "Nothing will be charged any more."),
        (Language::En, SubscriptionRefunded) => ("Money of your subscription goes back", "It is on its way to you."),
    }
}

impl SubscriptionNotice {
    /// Returns `true` if it announces the next charge: its amount and plan are those of that charge.
    pub fn announces(self) -> bool {
        matches!(
            self,
            SubscriptionChargeAhead
                | SubscriptionRescheduled
                | SubscriptionResumed
                | SubscriptionMethodChanged
                | SubscriptionTermsChanged
        )
    }

    /// Returns title and body of the notice. The body names the plan. A dash replaces unknown values.
    pub fn text(self, language: Language, subject: SubscriptionSubject<'_>) -> (String, String) {
        let (title, body) = template(self, language);
        let day = |moment: Option<DateTime<Utc>>| {
            let form = match language {
                Language::Ru => "%d.%m.%Y",
                Language::En => "%Y-%m-%d",
            };
            moment.map_or_else(|| "—".to_owned(), |moment| subject.zone.local(moment).format(form).to_string())
        };
        let next_sum = language.sum(subject.next_amount, subject.currency);
        let next = day(subject.next_charge_at);
        let again = subject.next_charge_at.map_or_else(|| next.clone(), |_| format!("{next}, {next_sum}"));
        let body = body
            .replace("{sum}", &language.sum(subject.amount, subject.currency))
            .replace("{next_sum}", &next_sum)
            .replace("{again}", &again)
            .replace("{until}", &day(subject.paid_until))
            .replace("{next}", &next);
        (title.to_owned(), format!("{}: {body}", subject.plan))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kontor_kernel::Word as _;

    use super::*;

    #[test]
    fn every_notice_has_words_of_its_own_and_nothing_left_to_fill() {
        let subject = SubscriptionSubject {
            plan: "Gold",
            amount: "990.00".parse().unwrap(),
            next_amount: "490.00".parse().unwrap(),
            currency: "RUB",
            paid_until: Some("2027-02-28T20:59:00Z".parse().unwrap()),
            next_charge_at: None,
            zone: Zone::default(),
        };
        for language in [Language::Ru, Language::En] {
            let texts: Vec<_> = SubscriptionNotice::all().iter().map(|notice| notice.text(language, subject)).collect();
            assert!(texts.iter().all(|(title, body)| !title.contains('{') && !body.contains('{')));
            let titles: BTreeSet<_> = texts.iter().map(|(title, _)| title).collect();
            assert_eq!(titles.len(), texts.len(), "{language:?}");
        }
        let (_, body) = SubscriptionActivated.text(Language::Ru, subject);
        assert_eq!(body, "Gold: Мы получили 990,00 ₽. Оплачено до 28.02.2027.");
        let (_, body) = SubscriptionPaymentFailed.text(Language::En, subject);
        assert_eq!(body, "Gold: 990.00 RUB could not be charged. Next try: —.");
        let subject = SubscriptionSubject { next_charge_at: Some("2027-03-01T09:00:00Z".parse().unwrap()), ..subject };
        let (_, body) = SubscriptionPaymentFailed.text(Language::En, subject);
        assert_eq!(body, "Gold: 990.00 RUB could not be charged. Next try: 2027-03-01, 490.00 RUB.");
        for notice in SubscriptionNotice::all() {
            let (_, body) = notice.text(Language::En, subject);
            assert_eq!(body.contains("490.00"), notice.announces() || *notice == SubscriptionPaymentFailed, "{body}");
        }
    }
}
