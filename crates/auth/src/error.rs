use kontor_kernel::{AccessDenied, StoreError};

use crate::model::BeyondHoldings;
use crate::ports::{HashingFailed, SendError};

/// Why an employee is not signed in.
#[derive(Debug, thiserror::Error)]
pub enum StaffLoginError {
    /// The login is unknown, the password wrong or the employee banned; which of them is not said.
    #[error("the login or the password is wrong")]
    WrongCredentials,
    /// The password could not be compared.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an employee is not added or changed.
#[derive(Debug, thiserror::Error)]
pub enum StaffRegistryError {
    /// Another employee has this login.
    #[error("the login is already in use")]
    LoginTaken,
    /// There is no such project.
    #[error("there is no such project")]
    UnknownProject,
    /// There is no such employee.
    #[error("there is no such employee")]
    UnknownEmployee,
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// The named role is not one of the project's staff.
    #[error("there is no such role")]
    UnknownRole,
    /// The named department is not one of the project.
    #[error("there is no such department")]
    UnknownDepartment,
    /// Without him nobody could do everything in the project.
    #[error("he is the last owner of the project")]
    LastOwner,
    /// The password could not be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why employees are not shown.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a use case of roles is refused.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such role.
    #[error("there is no such role")]
    NotFound,
    /// The role, as it is or would be, has permissions that the employee lacks.
    #[error(transparent)]
    Beyond(#[from] BeyondHoldings),
    /// The role that allows everything is as it is.
    #[error("the owner's role cannot be changed or deleted")]
    OwnerRole,
    /// The named permissions at these places do not exist in the project.
    #[error("there are no such permissions")]
    UnknownPermissions(Vec<usize>),
    /// Somebody has the role.
    #[error("there are employees with the role")]
    InUse,
    /// The role was changed meanwhile.
    #[error("the role was changed meanwhile, look at it again")]
    Stale,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a use case of permissions is refused.
#[derive(Debug, thiserror::Error)]
pub enum PermissionError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such permission or screen.
    #[error("there is no such permission")]
    NotFound,
    /// The service's own permissions are as they are.
    #[error("the permission is the service's own")]
    OfTheService,
    /// The project has a permission of this name.
    #[error("the name is already in use")]
    NameTaken,
    /// There is no such screen.
    #[error("there is no such screen")]
    UnknownScreen,
    /// A role has the permission.
    #[error("there are roles with the permission")]
    InUse,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why requests for temporary passwords are not answered.
#[derive(Debug, thiserror::Error)]
pub enum SendPasswordError {
    /// The password could not be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why no one-time code is on its way.
#[derive(Debug, thiserror::Error)]
pub enum SendCodeError {
    /// The provider did not accept it; it counts as not requested.
    #[error("the code could not be sent")]
    CodeNotSent(#[from] SendError),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a customer is not signed in.
#[derive(Debug, thiserror::Error)]
pub enum CustomerLoginError {
    /// No customer of the project has this contact.
    #[error("there is no customer with this phone or e-mail address")]
    UnknownContact,
    /// No code was requested, or it was used, expired or tried too often.
    #[error("no valid code: request a new one")]
    CodeNotRequested,
    /// The code is wrong.
    #[error("the code is wrong")]
    WrongCode,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
