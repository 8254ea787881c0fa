//! `kontor user`: accounts of employees, also without an owner who can log in.

use std::sync::Arc;

use clap::{Args, Subcommand};
use kontor_adapter_diesel::Database;
use kontor_auth::model::{EmployeeChange, EmployeeFilter, Login, NewPassword, RoleChoice};
use kontor_auth::ports::DirectoryRepository;
use kontor_auth::{NewEmployeeInput, StaffRegistry};
use kontor_kernel::{
    BranchId, DepartmentId, Edit, Email, FileId, InvalidId, Name, PageRequest, Phone, ProjectId, RoleId, UserId,
};
use serde_json::{Value, json};

use super::operate::open_migrated;
use super::process::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::Adapters;

/// Subcommands of `kontor user`.
#[derive(Subcommand)]
pub enum UserCommand {
    /// Add an employee. The password is shown only once.
    Create(CreateArguments),
    /// Ban an employee; their tokens end at once. The last owner of a project cannot be banned.
    Ban(OneUser),
    /// Unban an employee.
    Unban(OneUser),
    /// Assign another role to an employee. The last owner of a project keeps theirs.
    Role {
        #[command(flatten)]
        user: OneUser,
        /// Id of a role of the project, or `owner`.
        #[arg(long)]
        role: String,
    },
    /// Assign an employee to a department.
    Department {
        #[command(flatten)]
        user: OneUser,
        /// Id of a department of the project, or `none`.
        #[arg(long)]
        department: String,
    },
    /// Change the record of an employee.
    Edit(EditArguments),
    /// List the employees of a project.
    List {
        /// Project.
        #[arg(long)]
        project: i64,
        #[command(flatten)]
        output: Output,
    },
}

/// Settings of `kontor user create`.
#[derive(Args)]
pub struct CreateArguments {
    /// Project.
    #[arg(long)]
    project: i64,
    /// Login name.
    #[arg(long)]
    login: String,
    /// E-mail address, which receives temporary passwords.
    #[arg(long)]
    email: String,
    /// Id of a role of the project, or `owner`.
    #[arg(long)]
    role: String,
    /// Given name; the login by default.
    #[arg(long)]
    first_name: Option<String>,
    /// Family name; the login by default.
    #[arg(long)]
    last_name: Option<String>,
    /// Patronymic.
    #[arg(long)]
    middle_name: Option<String>,
    /// Phone.
    #[arg(long)]
    phone: Option<String>,
    /// Branch of the employee; by default all.
    #[arg(long)]
    branch: Option<i64>,
    /// Department.
    #[arg(long)]
    department: Option<i64>,
    #[command(flatten)]
    output: Output,
}

/// Settings of `kontor user edit`.
#[derive(Args)]
pub struct EditArguments {
    /// Login name.
    #[arg(long)]
    login: String,
    #[command(flatten)]
    traits: EmployeeFields,
    /// Database.
    #[arg(long)]
    database: Option<String>,
}

/// Fields to change; others keep their values.
#[derive(Args)]
#[group(required = true, multiple = true)]
struct EmployeeFields {
    /// Phone, or `none`.
    #[arg(long)]
    phone: Option<String>,
    /// Patronymic, or `none`.
    #[arg(long)]
    middle_name: Option<String>,
    /// `true` if the employee is on sick leave.
    #[arg(long, value_name = "true|false")]
    sick: Option<bool>,
    /// Picture: id of a file of type 2 in the employee's project, or `none`.
    #[arg(long, value_name = "FILE_ID")]
    avatar: Option<String>,
}

/// Selected employee.
#[derive(Args)]
pub struct OneUser {
    /// Id of the employee.
    #[arg(long)]
    user: i64,
    /// Database.
    #[arg(long)]
    database: Option<String>,
}

impl UserCommand {
    fn database(&self) -> Option<String> {
        match self {
            Self::Create(arguments) => arguments.output.database.clone(),
            Self::Ban(user) | Self::Unban(user) | Self::Role { user, .. } | Self::Department { user, .. } => {
                user.database.clone()
            }
            Self::Edit(EditArguments { database, .. }) => database.clone(),
            Self::List { output, .. } => output.database.clone(),
        }
    }
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: UserCommand,
) -> Result<(), Failure> {
    let config = load(command.database())?;
    let database = open_migrated(&config)?;
    process::runtime()?.block_on(execute(&config, &database, command))
}

fn id<T: TryFrom<i64, Error = InvalidId>>(name: &str, number: i64) -> Result<T, Failure> {
    T::try_from(number).map_err(|error| format!("{name}: {error}").into())
}

fn parsed<T, E: std::fmt::Display>(name: &str, result: Result<T, E>) -> Result<T, Failure> {
    result.map_err(|error| format!("{name} {error}").into())
}

/// Parses a value; the word `none` clears it.
fn or_none<T>(given: Option<&str>, parse: impl FnOnce(&str) -> Result<T, Failure>) -> Result<Edit<Option<T>>, Failure> {
    let filled = given.map(|text| if text == "none" { Ok(None) } else { parse(text).map(Some) });
    Ok(filled.transpose()?.into())
}

fn file(text: &str) -> Result<FileId, Failure> {
    let number = text.parse().map_err(|_| "--avatar must be the id of a file, or `none`")?;
    id("--avatar", number)
}

fn change(traits: &EmployeeFields) -> Result<EmployeeChange, Failure> {
    Ok(EmployeeChange {
        phone: or_none(traits.phone.as_deref(), |text| parsed("--phone", Phone::parse(text)))?,
        middle_name: or_none(traits.middle_name.as_deref(), |text| parsed("--middle-name", Name::parse(text)))?,
        is_sick: traits.sick.into(),
        avatar: or_none(traits.avatar.as_deref(), file)?,
    })
}

fn role(text: &str) -> Result<RoleChoice, Failure> {
    if text == "owner" {
        return Ok(RoleChoice::Owner);
    }
    let number = text.parse().map_err(|_| "--role must be the id of a role, or `owner`")?;
    Ok(RoleChoice::Role(id::<RoleId>("--role", number)?))
}

async fn execute(config: &Config, database: &Database, command: UserCommand) -> Result<(), Failure> {
    let Adapters { clock, random, hasher, .. } = Adapters::new(config, Arc::new(SystemClock))?;
    let registry = StaffRegistry { staff: Arc::new(database.clone()), hasher, clock };
    match command {
        UserCommand::Create(arguments) => create(&registry, &random.alphanumeric(20), arguments).await,
        UserCommand::Ban(user) => {
            registry.ban(id::<UserId>("--user", user.user)?).await?;
            println!("user {} is banned, their tokens are revoked", user.user);
            Ok(())
        }
        UserCommand::Unban(user) => {
            registry.unban(id::<UserId>("--user", user.user)?).await?;
            println!("user {} is unbanned", user.user);
            Ok(())
        }
        UserCommand::Role { user, role: wanted } => {
            registry.assign_role(id::<UserId>("--user", user.user)?, role(&wanted)?).await?;
            println!("user {} has the role {wanted}", user.user);
            Ok(())
        }
        UserCommand::Department { user, department } => {
            let wanted = match department.as_str() {
                "none" => None,
                text => {
                    let number = text.parse().map_err(|_| "--department must be the id of a department, or `none`")?;
                    Some(id::<DepartmentId>("--department", number)?)
                }
            };
            registry.assign_department(id::<UserId>("--user", user.user)?, wanted).await?;
            println!("user {} is in the department {department}", user.user);
            Ok(())
        }
        UserCommand::Edit(EditArguments { login, traits, .. }) => {
            let login = parsed("--login", Login::parse(&login))?;
            let user = registry.update(&login, change(&traits)?).await?;
            println!("user {user} updated");
            Ok(())
        }
        UserCommand::List { project, output } => list(database, id("--project", project)?, output.json).await,
    }
}

async fn create(registry: &StaffRegistry, password: &str, arguments: CreateArguments) -> Result<(), Failure> {
    let name = |option: &str, given: Option<&str>| parsed(option, Name::parse(given.unwrap_or(&arguments.login)));
    let new_employee = NewEmployeeInput {
        project_id: id("--project", arguments.project)?,
        branch_id: arguments.branch.map(|number| id::<BranchId>("--branch", number)).transpose()?,
        department_id: arguments.department.map(|number| id::<DepartmentId>("--department", number)).transpose()?,
        role: role(&arguments.role)?,
        login: parsed("--login", Login::parse(&arguments.login))?,
        email: parsed("--email", Email::parse(&arguments.email))?,
        first_name: name("--first-name", arguments.first_name.as_deref())?,
        last_name: name("--last-name", arguments.last_name.as_deref())?,
        middle_name: arguments
            .middle_name
            .as_deref()
            .map(|text| parsed("--middle-name", Name::parse(text)))
            .transpose()?,
        phone: arguments.phone.as_deref().map(|text| parsed("--phone", Phone::parse(text))).transpose()?,
        password: parsed("the password", NewPassword::parse(password))?,
    };
    let login = new_employee.login.to_string();
    let user = registry.new_employee(new_employee).await?;
    if arguments.output.json {
        println!("{}", json!({ "user_id": user.get(), "login": login, "password": password }));
    } else {
        println!("user_id   {user}");
        println!("login     {login}");
        println!("password  {password}");
        println!("The password is shown only once.");
    }
    Ok(())
}

async fn list(database: &Database, project: ProjectId, as_json: bool) -> Result<(), Failure> {
    let mut rows: Vec<Value> = Vec::new();
    for page in 1.. {
        let request = PageRequest::new(page, 100, 100)?;
        let found = database.employees(project, EmployeeFilter::default(), request).await?;
        for user in &found.items {
            if as_json {
                rows.push(json!({
                    "user_id": user.id.get(),
                    "login": user.login.as_str(),
                    "first_name": user.first_name.as_str(),
                    "last_name": user.last_name.as_str(),
                    "role_id": user.role.id.get(),
                    "role": user.role.name.as_str(),
                    "is_banned": user.is_banned,
                    "last_activity_at": user.last_activity_at,
                }));
            } else {
                let banned = if user.is_banned { "  banned" } else { "" };
                let (id, login, role, number) = (user.id, &user.login, &user.role.name, user.role.id);
                println!("{id}  {login}  {} {}  {role} ({number}){banned}", user.first_name, user.last_name);
            }
        }
        if u64::try_from(page)? >= found.last_page() {
            break;
        }
    }
    if as_json {
        println!("{}", Value::Array(rows));
    }
    Ok(())
}
