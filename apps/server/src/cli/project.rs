//! `kontor project create`, `time-zone`, `language`, `if-match`, `contact-orders`, `delivery-charge` and `move`

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use kontor_adapter_diesel::{Database, DatabaseUrl, ProjectMovePhase, ProjectMoved};
use kontor_auth::model::{Login, NewPassword};
use kontor_auth::{StaffRegistry, StaffRegistryError};
use kontor_kernel::{
    Clock as _, DeliverySubtypeId, DeliveryTypeId, Email, Language, Money, Name, ProjectId, StoreError, Word as _, Zone,
};
use kontor_orders::model::DeliveryChoice;
use kontor_orders::ports::{ContactSettings as _, DeliveryOption, DeliverySettings as _, DeliveryTerms};
use kontor_orders::{ContactTerms, HoldHours};
use kontor_organization::ProjectCreation;
use kontor_organization::model::ProjectRecords;
use serde::Serialize;

use super::Failure;
use super::operate::open_migrated;
use super::process::{self, Output};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError, database_url_in};
use crate::service::wiring::Adapters;

/// Subcommands of `kontor project`.
#[derive(Subcommand)]
pub enum ProjectCommand {
    /// Create a project ready to sell: owner, branch, application, delivery and payment types.
    Create(CreateArguments),
    /// Set the time zone in which the days of filters and reports begin.
    TimeZone(TimeZoneArguments),
    /// Set the language in which a project addresses its customers from now on.
    Language(LanguageArguments),
    /// Require `If-Match` with the current version for changes and deletions in a project.
    IfMatch(IfMatchArguments),
    /// Show or set the limits of contact form orders until an employee confirms them.
    ContactOrders(ContactOrdersArguments),
    /// Show or set the delivery charge: included in orders or not, and the price of each way of delivery.
    DeliveryCharge(DeliveryChargeArguments),
    /// Move a project with all its records to another database while it is in use.
    Move(MoveArguments),
}

/// Settings of `kontor project create`.
#[derive(Args)]
pub struct CreateArguments {
    /// Name of the project.
    #[arg(long)]
    name: String,
    /// Login of the owner.
    #[arg(long)]
    login: String,
    /// E-mail address of the owner.
    #[arg(long)]
    email: String,
    #[command(flatten)]
    output: Output,
}

/// Settings of `kontor project time-zone`.
#[derive(Args)]
pub struct TimeZoneArguments {
    /// Id of the project.
    #[arg(long)]
    project: i64,
    /// Name of the zone in the IANA database, such as `Asia/Novosibirsk`.
    #[arg(long)]
    zone: String,
    #[command(flatten)]
    output: Output,
}

/// Settings of `kontor project language`.
#[derive(Args)]
pub struct LanguageArguments {
    /// Id of the project.
    #[arg(long)]
    project: i64,
    /// `ru` or `en`.
    #[arg(long)]
    language: String,
    #[command(flatten)]
    output: Output,
}

/// Settings of `kontor project if-match`.
#[derive(Args)]
pub struct IfMatchArguments {
    /// Id of the project.
    #[arg(long)]
    project: i64,
    /// `true` if the header `If-Match` is required.
    #[arg(long, action = clap::ArgAction::Set)]
    required: bool,
    #[command(flatten)]
    output: Output,
}

/// Settings of `kontor project contact-orders`.
#[derive(Args)]
pub struct ContactOrdersArguments {
    /// Id of the project.
    #[arg(long)]
    project: i64,
    /// Maximum number of units that the unconfirmed orders of one phone reserve together.
    #[arg(long)]
    max_pieces: Option<u32>,
    /// Maximum total price of the unconfirmed orders of one phone, such as `100000.00`.
    #[arg(long)]
    max_value: Option<String>,
    /// Hours until an unconfirmed order is canceled, 1 to 8760. Applies to new orders.
    #[arg(long)]
    hold_hours: Option<i64>,
    #[command(flatten)]
    output: Output,
}

/// Settings of `kontor project delivery-charge`.
#[derive(Args)]
pub struct DeliveryChargeArguments {
    /// Id of the project.
    #[arg(long)]
    project: i64,
    /// `true` if new orders include the price of their delivery.
    #[arg(long, action = clap::ArgAction::Set)]
    enabled: Option<bool>,
    /// Delivery type to price.
    #[arg(long = "type", value_name = "ID", requires = "price")]
    type_id: Option<i64>,
    /// Delivery subtype to price; its price is added to that of its type.
    #[arg(long = "subtype", value_name = "ID", requires = "type_id")]
    subtype_id: Option<i64>,
    /// Price of that type or subtype for new orders, such as `300.00`.
    #[arg(long, value_name = "SUM", requires = "type_id")]
    price: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// Data for the owner, shown only once.
#[derive(Serialize)]
pub struct CreatedProject {
    /// Id of the project.
    pub project_id: i64,
    /// Id of the branch.
    pub branch_id: i64,
    /// Id of the application.
    pub application_id: i64,
    /// App Token of the application.
    pub app_token: String,
    /// Login of the owner.
    pub login: String,
    /// Password of the owner.
    pub password: String,
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: ProjectCommand,
) -> Result<(), Failure> {
    let arguments = match command {
        ProjectCommand::Create(arguments) => arguments,
        ProjectCommand::TimeZone(arguments) => return set_time_zone(load, arguments),
        ProjectCommand::Language(arguments) => return set_language(load, arguments),
        ProjectCommand::IfMatch(arguments) => return require_if_match(load, arguments),
        ProjectCommand::ContactOrders(arguments) => return contact_orders(load, arguments),
        ProjectCommand::DeliveryCharge(arguments) => return delivery_charge(load, arguments),
        ProjectCommand::Move(arguments) => return run_move(load, arguments),
    };
    let config = load(arguments.output.database)?;
    let database = open_migrated(&config)?;
    let created = process::runtime()?.block_on(create(
        &config,
        &database,
        &arguments.name,
        &arguments.login,
        &arguments.email,
    ))?;
    if arguments.output.json {
        println!("{}", serde_json::to_string(&created)?);
    } else {
        println!("project_id      {}", created.project_id);
        println!("branch_id       {}", created.branch_id);
        println!("application_id  {}", created.application_id);
        println!("app_token       {}", created.app_token);
        println!("login           {}", created.login);
        println!("password        {}", created.password);
        println!("The token and the password are shown only once.");
    }
    Ok(())
}

fn set_time_zone(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: TimeZoneArguments,
) -> Result<(), Failure> {
    let zone = Zone::parse(&arguments.zone).map_err(|error| format!("--zone {error}"))?;
    let project = process::project(arguments.project)?;
    let project_creation = project_creation(load, arguments.output.database)?;
    if !process::runtime()?.block_on(project_creation.set_time_zone(project, zone))? {
        return Err(format!("project {project} not found").into());
    }
    if arguments.output.json {
        println!("{}", serde_json::json!({ "project_id": project.get(), "time_zone": zone.name() }));
    } else {
        println!("project_id  {project}");
        println!("time_zone   {zone}");
    }
    Ok(())
}

fn set_language(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: LanguageArguments,
) -> Result<(), Failure> {
    let language = Language::from_word(&arguments.language).ok_or("--language must be ru or en")?;
    let project = process::project(arguments.project)?;
    let project_creation = project_creation(load, arguments.output.database)?;
    if !process::runtime()?.block_on(project_creation.set_language(project, language))? {
        return Err(format!("project {project} not found").into());
    }
    if arguments.output.json {
        println!("{}", serde_json::json!({ "project_id": project.get(), "language": language.word() }));
    } else {
        println!("project_id  {project}");
        println!("language    {}", language.word());
    }
    Ok(())
}

fn require_if_match(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: IfMatchArguments,
) -> Result<(), Failure> {
    let required = arguments.required;
    let project = process::project(arguments.project)?;
    let project_creation = project_creation(load, arguments.output.database)?;
    if !process::runtime()?.block_on(project_creation.require_if_match(project, required))? {
        return Err(format!("project {project} not found").into());
    }
    if arguments.output.json {
        println!("{}", serde_json::json!({ "project_id": project.get(), "if_match_required": required }));
    } else {
        println!("project_id         {project}");
        println!("if_match_required  {required}");
    }
    Ok(())
}

fn contact_orders(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: ContactOrdersArguments,
) -> Result<(), Failure> {
    let ContactOrdersArguments { project, max_pieces, max_value, hold_hours, output } = arguments;
    let project = process::project(project)?;
    let max_value = max_value.map(|sum| sum.parse::<Money>()).transpose();
    let max_value = max_value.map_err(|error| format!("--max-value {error}"))?;
    let hold_hours = hold_hours.map(HoldHours::new).transpose().map_err(|error| format!("--hold-hours {error}"))?;
    let database = open_migrated(&load(output.database)?)?;
    let terms = process::runtime()?.block_on(async {
        let Some(old) = database.contact_terms(project).await? else { return Ok(None) };
        let terms = ContactTerms {
            max_pieces: max_pieces.unwrap_or(old.max_pieces),
            max_value: max_value.unwrap_or(old.max_value),
            hold_hours: hold_hours.unwrap_or(old.hold_hours),
        };
        let kept = terms == old || database.set_contact_terms(project, terms).await?;
        Ok::<_, StoreError>(kept.then_some(terms))
    })?;
    let ContactTerms { max_pieces, max_value, hold_hours } =
        terms.ok_or_else(|| format!("project {project} not found"))?;
    if output.json {
        let reported = serde_json::json!({
            "project_id": project.get(), "max_pieces": max_pieces, "max_value": max_value.to_string(),
            "hold_hours": hold_hours.get(),
        });
        println!("{reported}");
    } else {
        println!("project_id  {project}");
        println!("max_pieces  {max_pieces}");
        println!("max_value   {max_value}");
        println!("hold_hours  {}", hold_hours.get());
    }
    Ok(())
}

fn delivery_charge(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: DeliveryChargeArguments,
) -> Result<(), Failure> {
    let DeliveryChargeArguments { project, enabled, type_id, subtype_id, price, output } = arguments;
    let project = process::project(project)?;
    let type_id = type_id.map(DeliveryTypeId::new).transpose().map_err(|error| format!("--type {error}"))?;
    let subtype_id =
        subtype_id.map(DeliverySubtypeId::new).transpose().map_err(|error| format!("--subtype {error}"))?;
    let price = price.map(|sum| sum.parse::<Money>()).transpose().map_err(|error| format!("--price {error}"))?;
    let priced = type_id.map(|type_id| DeliveryChoice { type_id, subtype_id }).zip(price);
    let database = open_migrated(&load(output.database)?)?;
    let terms = process::runtime()?.block_on(async {
        if let Some(enabled) = enabled {
            database.set_charges_delivery(project, enabled).await?;
        }
        let is_there = match priced {
            None => true,
            Some((choice, price)) => database.set_delivery_price(project, choice, price).await?,
        };
        Ok::<_, StoreError>((database.delivery_terms(project).await?, is_there))
    })?;
    let (terms, is_there) = terms;
    let DeliveryTerms { charges_delivery, ways } = terms.ok_or_else(|| format!("project {project} not found"))?;
    if !is_there {
        return Err("delivery type or subtype not found".into());
    }
    if output.json {
        let ways: Vec<_> = ways
            .iter()
            .map(|way| {
                let subtype = way.subtype.as_ref();
                serde_json::json!({
                    "type_id": way.delivery_type.id.get(), "type": way.delivery_type.name,
                    "subtype_id": subtype.map(|subtype| subtype.id.get()), "subtype": subtype.map(|subtype| &subtype.name),
                    "type_price": way.delivery_type.price.to_string(),
                    "subtype_price": subtype.map(|subtype| subtype.price.to_string()), "price": way.price().to_string(),
                })
            })
            .collect();
        let reported = serde_json::json!({
            "project_id": project.get(), "charges_delivery": charges_delivery, "ways": ways,
        });
        println!("{reported}");
    } else {
        println!("project_id        {project}");
        println!("charges_delivery  {charges_delivery}");
        for way in ways {
            let DeliveryOption { delivery_type, subtype } = &way;
            let price = way.price().to_string();
            match subtype {
                None => println!("{price:>16}  type {}: {}", delivery_type.id, delivery_type.name),
                Some(subtype) => println!(
                    "{price:>16}  type {}: {} {}, subtype {}: {} {}",
                    delivery_type.id, delivery_type.name, delivery_type.price, subtype.id, subtype.name, subtype.price
                ),
            }
        }
    }
    Ok(())
}

/// Returns the use cases that change projects, over a migrated database.
fn project_creation(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    database: Option<String>,
) -> Result<ProjectCreation, Failure> {
    let config = load(database)?;
    let projects = Arc::new(open_migrated(&config)?);
    let Adapters { clock, random, cipher, .. } = Adapters::new(&config, Arc::new(SystemClock))?;
    Ok(ProjectCreation { projects, clock, random, cipher })
}

/// Creates a project and its owner.
pub async fn create(
    config: &Config,
    database: &Database,
    name: &str,
    login: &str,
    email: &str,
) -> Result<CreatedProject, Failure> {
    let Adapters { clock, random, cipher, hasher, .. } = Adapters::new(config, Arc::new(SystemClock))?;
    let store = Arc::new(database.clone());
    let named = |what: &'static str| move |error| format!("{what} {error}");
    let name = Name::parse(name).map_err(|error| named("--name")(error.to_string()))?;
    let login = Login::parse(login).map_err(|error| named("--login")(error.to_string()))?;
    let email = Email::parse(email).map_err(|error| named("--email")(error.to_string()))?;
    let password = random.alphanumeric(20);

    let registry = StaffRegistry { staff: store.clone(), hasher, clock: clock.clone() };
    let project_creation = ProjectCreation { projects: store, clock, random, cipher };
    let founded = project_creation.create_project(name).await?;
    let ProjectRecords { project_id, branch_id, application_id } = founded.records;
    let secret = NewPassword::parse(&password).map_err(|error| error.to_string())?;
    if let Err(error) = registry.create_owner(project_id, login.clone(), email, &secret, Some(branch_id)).await {
        // If the outcome is unknown, the owner may be stored, so the project stays.
        if !matches!(error, StaffRegistryError::Store(StoreError::OutcomeUnknown(_))) {
            project_creation.abandon(project_id).await?;
        }
        return Err(error.into());
    }
    Ok(CreatedProject {
        project_id: project_id.get(),
        branch_id: branch_id.get(),
        application_id: application_id.get(),
        app_token: founded.token.reveal().to_owned(),
        login: login.to_string(),
        password,
    })
}

/// Settings of `kontor project move`.
#[derive(Args)]
pub struct MoveArguments {
    /// Id of the project.
    project: i64,
    /// PostgreSQL database to move it to: an address, or a configuration file with `database_url`. It must be migrated.
    #[arg(long, value_name = "DATABASE", required_unless_present = "abort")]
    to: Option<String>,
    /// End a move that died, instead: the old database goes on without it. Needs the target only once the switch has
    /// begun.
    #[arg(long)]
    abort: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs `kontor project move`.
fn run_move(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: MoveArguments,
) -> Result<(), Failure> {
    let MoveArguments { project, to, abort, output } = arguments;
    let project = process::project(project)?;
    let config = load(output.database)?;
    let source = open_migrated(&config)?;
    eprintln!("kontor: connecting");
    let target = to.map(|to| open_target(to, config));
    if abort {
        return abort_move(&source, target, project, output.json);
    }
    let target = target.ok_or("--to is required")??;
    let report = |phase: ProjectMovePhase| eprintln!("kontor: {phase}");
    let moved = process::runtime()?.block_on(source.move_project(&target, project, SystemClock.now(), report))?;
    let ProjectMoved { rows, changes, frozen } = moved;
    let (frozen, target) = (u64::try_from(frozen.as_millis()).unwrap_or(u64::MAX), target.url().to_string());
    if output.json {
        let reported = serde_json::json!({
            "project_id": project.get(), "target": target, "rows": rows, "changes": changes, "frozen_ms": frozen,
        });
        println!("{reported}");
    } else {
        println!("project_id  {project}");
        println!("target      {target}");
        println!("rows        {rows}");
        println!("changes     {changes}");
        println!("frozen_ms   {frozen}");
    }
    Ok(())
}

/// Opens the target of a move.
fn open_target(to: String, config: Config) -> Result<Database, Failure> {
    let to = if to.parse::<DatabaseUrl>().is_ok() { to } else { database_url_in(Path::new(&to))? };
    open_migrated(&Config { database_url: to.into(), ..config })
}

/// Ends a move, at the source alone if the target is not given or cannot be opened.
fn abort_move(
    source: &Database,
    target: Option<Result<Database, Failure>>,
    project: ProjectId,
    json: bool,
) -> Result<(), Failure> {
    let (target, lost) = match target.transpose() {
        Ok(target) => (target, None),
        Err(lost) => (None, Some(lost)),
    };
    let aborted = process::runtime()?.block_on(source.abort_project_move(target.as_ref(), project));
    let was_begun = aborted.map_err(|error| match &lost {
        Some(lost) => Failure::from(format!("{error}; it cannot be opened: {lost}")),
        None => error.into(),
    })?;
    let is_cleaned = target.is_some();
    if !is_cleaned {
        let reason = lost.map_or_else(|| "--to is missing".to_owned(), |lost| lost.to_string());
        eprintln!("kontor: the target was not cleaned ({reason}); its server rolls back what the move wrote");
    }
    if json {
        let reported = serde_json::json!({
            "project_id": project.get(), "aborted": was_begun, "target_cleaned": is_cleaned,
        });
        println!("{reported}");
    } else {
        println!("project_id      {project}");
        println!("aborted         {was_begun}");
        println!("target_cleaned  {is_cleaned}");
    }
    Ok(())
}
