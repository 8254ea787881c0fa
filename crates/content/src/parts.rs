use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{
    AppScope, ApplicationId, Clock, HtmlCleaner, Listing, MoveDirection, Page, PageRequest, Permission, RecordError,
    SafeHtml, Staff, Stamp,
};

use crate::model::{ApplicationPart, Block, Menu, Node, Slug};
use crate::ports::{BlockKey, PartOrder, PartReader, PartRepository};
use crate::{ContentError, PartError};

/// Use cases of blocks, menu items and slides for staff.
pub struct PartService<P: ApplicationPart> {
    /// Storage.
    pub parts: Arc<dyn PartRepository<P>>,
    /// History entries.
    pub histories: Arc<dyn Histories>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl<P: ApplicationPart> PartService<P> {
    /// Returns one page of the records of an application of the employee's project.
    pub async fn page(
        &self,
        staff: &Staff,
        application: ApplicationId,
        listing: Listing,
    ) -> Result<Page<P>, PartError> {
        self.admit(staff, Permission::view(P::RESOURCE), application).await?;
        Ok(self.parts.page(staff.project_id, application, listing).await?)
    }

    /// Returns one record. A record of another application is not found.
    pub async fn read(&self, staff: &Staff, application: ApplicationId, id: P::Id) -> Result<P, PartError> {
        self.admit(staff, Permission::view(P::RESOURCE), application).await?;
        let part: P = staff.require_own(self.parts.find(id).await?)?;
        if part.application() == application { Ok(part) } else { Err(RecordError::NotFound) }
    }

    /// Creates a record.
    pub async fn create(&self, staff: &Staff, application: ApplicationId, draft: P::Draft) -> Result<P, PartError> {
        self.admit(staff, Permission::create(P::RESOURCE), application).await?;
        self.parts.insert(self.stamp(staff), application, draft).await
    }

    /// Changes a record.
    pub async fn update(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, PartError> {
        self.admit(staff, Permission::edit(P::RESOURCE), application).await?;
        self.parts.update(self.stamp(staff), application, id, change).await
    }

    /// Deletes a record without children.
    pub async fn delete(&self, staff: &Staff, application: ApplicationId, id: P::Id) -> Result<(), PartError> {
        self.admit(staff, Permission::edit(P::RESOURCE), application).await?;
        self.parts.delete(self.stamp(staff), application, id).await
    }

    /// Returns one page of the history of a record, newest first.
    pub async fn history(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: P::Id,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, PartError> {
        let part = self.read(staff, application, id).await?;
        Ok(self.histories.page(staff.project_id, P::KIND, part.number(), page).await?)
    }

    fn stamp(&self, staff: &Staff) -> Stamp {
        Stamp::of(staff, self.clock.now())
    }

    async fn admit(&self, staff: &Staff, permission: Permission, application: ApplicationId) -> Result<(), PartError> {
        staff.require(permission)?;
        staff.require_own(self.parts.owner(application).await?)
    }
}

/// Use case of reordering menu items or slides.
pub struct PartOrderService<P: ApplicationPart> {
    /// Storage.
    pub parts: Arc<dyn PartRepository<P>>,
    /// Storage of the order.
    pub order: Arc<dyn PartOrder<P>>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl<P: ApplicationPart> PartOrderService<P> {
    /// Swaps a record of an application of the employee's project with its neighbour, if it has one.
    pub async fn shift(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: P::Id,
        shift: MoveDirection,
    ) -> Result<P, PartError> {
        staff.require(Permission::edit(P::RESOURCE))?;
        staff.require_own(self.parts.owner(application).await?)?;
        self.order.shift(Stamp::of(staff, self.clock.now()), application, id, shift).await
    }
}

/// Block as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownBlock {
    /// Block.
    pub block: Block,
    /// Text as cleaned HTML.
    pub html: Option<SafeHtml>,
}

/// Use cases of blocks and menus for customers.
pub struct PartViewer {
    /// Storage.
    pub parts: Arc<dyn PartReader>,
    /// Cleans HTML of staff.
    pub cleaner: Arc<dyn HtmlCleaner>,
}

impl PartViewer {
    /// Returns a block with its descendants.
    pub async fn block(&self, app: AppScope, key: BlockKey) -> Result<Node<ShownBlock>, ContentError> {
        let found = self.parts.block(app, key).await?.ok_or(ContentError::NotFound)?;
        let html = |block: &Block| SafeHtml::of(block.text.as_deref()?, &*self.cleaner);
        Ok(found.map(&|block| ShownBlock { html: html(&block), block }))
    }

    /// Returns a menu with its items.
    pub async fn menu(&self, app: AppScope, slug: Slug) -> Result<Menu, ContentError> {
        self.parts.menu(app, slug).await?.ok_or(ContentError::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MenuItem, PartCode, Place};
    use crate::ports::{MockPartOrder, MockPartRepository};
    use chrono::DateTime;
    use kontor_kernel::history::MockHistories;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, MenuItemId, Name, ProjectId, ProjectScoped, Resource};

    fn application(number: i64) -> ApplicationId {
        ApplicationId::new(number).unwrap()
    }

    fn item() -> MenuItem {
        let place = Place {
            application_id: application(1),
            parent: None,
            code: PartCode::new(1).unwrap(),
            slug: Slug::parse("navpanel").unwrap(),
        };
        MenuItem {
            id: MenuItemId::new(7).unwrap(),
            place,
            position: 1,
            name: Name::parse("Menu").unwrap(),
            avatar: None,
            preview: None,
            version: 1,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn service(project: i64) -> PartService<MenuItem> {
        let mut parts = MockPartRepository::new();
        parts.expect_owner().returning(move |_| Ok(Some(ProjectScoped::new(ProjectId::new(project).unwrap(), ()))));
        parts.expect_find().returning(|_| Ok(Some(ProjectScoped::new(staff_with([]).project_id, item()))));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        PartService { parts: Arc::new(parts), histories: Arc::new(MockHistories::new()), clock }
    }

    #[tokio::test]
    async fn a_part_of_another_application_is_not_there_and_of_another_project_closed() {
        let staff = staff_with(Permission::all());
        let own = staff.project_id.get();
        assert!(service(own).read(&staff, application(1), item().id).await.is_ok());
        let other = service(own).read(&staff, application(2), item().id).await;
        assert!(matches!(other, Err(RecordError::NotFound)));
        let foreign = service(own + 1).read(&staff, application(1), item().id).await;
        assert!(matches!(foreign, Err(RecordError::Denied(AccessDenied::ForeignProject))));
        let nobody = service(own).read(&staff_with([]), application(1), item().id).await;
        assert!(matches!(nobody, Err(RecordError::Denied(AccessDenied::MissingPermission(_)))));
    }

    #[tokio::test]
    async fn a_part_is_moved_with_the_permission_to_edit_it() {
        let mover = |project: i64, times: usize| {
            let mut order = MockPartOrder::<MenuItem>::new();
            order.expect_shift().times(times).returning(|_, _, _, _| Ok(item()));
            let PartService { parts, clock, .. } = service(project);
            PartOrderService { parts, order: Arc::new(order), clock }
        };
        let editor = staff_with([Permission::edit(Resource::Applications)]);
        let (own, up) = (editor.project_id.get(), MoveDirection::Up);
        assert!(mover(own, 1).shift(&editor, application(1), item().id, up).await.is_ok());
        let foreign = mover(own + 1, 0).shift(&editor, application(1), item().id, up).await;
        assert!(matches!(foreign, Err(RecordError::Denied(AccessDenied::ForeignProject))));
        let viewer = staff_with([Permission::view(Resource::Applications)]);
        let refused = mover(own, 0).shift(&viewer, application(1), item().id, up).await;
        assert!(matches!(refused, Err(RecordError::Denied(AccessDenied::MissingPermission(_)))));
    }
}
