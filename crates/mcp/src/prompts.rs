//! Prompts: daily jobs in words, for people to start.

use kontor_kernel::{Permission, Staff};
use serde_json::{Map, Value, json};

use crate::offer::Offer;
use crate::protocol::with;

/// Daily job.
struct Prompt {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Argument with its description. It fills `{}` in the text.
    argument: Option<(&'static str, &'static str)>,
    /// Tools that the job needs.
    tools: &'static [&'static str],
    text: &'static str,
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "morning_orders",
        title: "Morning orders",
        about: "Goes through open orders, oldest first.",
        argument: None,
        tools: &["find_orders", "get_order"],
        text: "List the orders that are paid or in processing, oldest first. For each, name the number, the customer, \
               the items and what is missing to hand it over. Change nothing before I say so.",
    },
    Prompt {
        name: "low_stock",
        title: "Low stock",
        about: "Lists items to reorder.",
        argument: Some(("threshold", "Units below which an item is listed.")),
        tools: &["find_stock"],
        text: "List all items with fewer than {} units in stock, by warehouse, the lowest first. Suggest what to \
               reorder.",
    },
    Prompt {
        name: "week_in_figures",
        title: "The week in figures",
        about: "Compares the sales of two weeks.",
        argument: Some(("last_day", "Last day of the week, such as 2026-01-31.")),
        tools: &["report_sales", "report_items"],
        text: "Compare the sales of the seven days up to and including {} with the seven days before: orders, revenue \
               and best-selling items. Name the three largest changes.",
    },
    Prompt {
        name: "price_list",
        title: "Price list",
        about: "Checks new prices, then changes them.",
        argument: Some(("csv", "New prices as CSV with the columns article and price.")),
        tools: &["import_items"],
        text: "Check these prices with `import_items` and `dry_run`. Show me the rows that change and every error. \
               Import them only after I agree.\n\n{}",
    },
    Prompt {
        name: "open_tasks",
        title: "Open tasks",
        about: "Lists open tasks by deadline.",
        argument: None,
        tools: &["find_tasks"],
        text: "List the tasks that are new or in progress by deadline, overdue ones first, with the responsible \
               employee.",
    },
];

impl Prompt {
    fn is_for(&self, staff: &Staff, offers: &[Offer]) -> bool {
        let permissions_of = |name: &str| -> Option<&'static [Permission]> {
            offers.iter().find(|offer| offer.tool.name == name).map(|offer| offer.permissions)
        };
        let may = |permissions: &[Permission]| permissions.iter().all(|permission| staff.require(*permission).is_ok());
        self.tools.iter().all(|name| permissions_of(name).is_some_and(may))
    }

    fn listed(&self) -> Value {
        let listed = json!({ "name": self.name, "title": self.title, "description": self.about });
        let Some((name, about)) = self.argument else { return listed };
        with(listed, "arguments", json!([{ "name": name, "description": about, "required": true }]))
    }
}

/// Returns the prompts whose tools an agent may use.
pub fn list(staff: &Staff, offers: &[Offer]) -> Vec<Value> {
    PROMPTS.iter().filter(|prompt| prompt.is_for(staff, offers)).map(Prompt::listed).collect()
}

/// Returns a prompt with its argument, or the reason why there is none.
pub fn get(staff: &Staff, offers: &[Offer], params: &Map<String, Value>) -> Result<Value, String> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name && prompt.is_for(staff, offers));
    let prompt = prompt.ok_or_else(|| format!("Unknown prompt: {name}"))?;
    let mut text = prompt.text.to_owned();
    if let Some((argument, _)) = prompt.argument {
        let given = params.get("arguments").and_then(|arguments| arguments.get(argument)?.as_str());
        text = text.replace("{}", given.ok_or_else(|| format!("The argument {argument} is required."))?);
    }
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    Ok(json!({ "description": prompt.about, "messages": [message] }))
}
