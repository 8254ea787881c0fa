//! Slides.

use async_trait::async_trait;
use kontor_kernel::{
    ApplicationId, Listing, MoveDirection, Page, ProjectId, ProjectScoped, SlideId, Stamp, StoreError,
};

use super::{Guard, InMemoryContent, State, list_of};
use crate::model::{ApplicationPart as _, Slide, SlideChange, SlideContent, TreeRefusal, shifted};
use crate::ports::{PartOrder, PartRepository};
use crate::{PartError, PartRefusal};

impl State {
    /// Slides of an application, in their order.
    fn slides_of(&self, application: ApplicationId) -> Vec<Slide> {
        let any = !self.guards.has(Guard::Owner);
        let all = self.slides.values().map(|(_, slide)| slide);
        let mut slides: Vec<Slide> = all.filter(|slide| slide.application_id == application || any).cloned().collect();
        slides.sort_by_key(|slide| (slide.position, slide.id));
        slides
    }

    fn own_slide(&self, application: ApplicationId, id: SlideId) -> Result<Slide, PartError> {
        self.slides_of(application).into_iter().find(|slide| slide.id == id).ok_or(PartError::NotFound)
    }

    fn insert_slide(
        &mut self,
        stamp: Stamp,
        application_id: ApplicationId,
        content: SlideContent,
    ) -> Result<Slide, PartError> {
        self.require_application(stamp, application_id)?;
        let beside = self.slides_of(application_id);
        if self.guards.has(Guard::Limit) && beside.len() >= Slide::MAX_PER_APPLICATION {
            return Err(PartRefusal::Tree(TreeRefusal::Full).into());
        }
        let slide = Slide {
            id: self.ids.id(),
            application_id,
            content,
            position: beside.last().map_or(1, |last| last.position + 1),
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.slides.insert(slide.id, (stamp.project_id, slide.clone()));
        Ok(slide)
    }

    fn update_slide(
        &mut self,
        stamp: Stamp,
        application: ApplicationId,
        id: SlideId,
        change: &SlideChange,
    ) -> Result<Slide, PartError> {
        self.require_application(stamp, application)?;
        let before = self.own_slide(application, id)?;
        let content = before.content.changed(change).map_err(PartRefusal::from)?;
        let slide = Slide { content, version: before.version + 1, updated_at: stamp.at, ..before };
        self.slides.insert(id, (stamp.project_id, slide.clone()));
        Ok(slide)
    }

    fn delete_slide(&mut self, stamp: Stamp, application: ApplicationId, id: SlideId) -> Result<(), PartError> {
        self.require_application(stamp, application)?;
        self.own_slide(application, id)?;
        self.slides.remove(&id);
        Ok(())
    }

    fn shift_slide(
        &mut self,
        stamp: Stamp,
        application: ApplicationId,
        id: SlideId,
        shift: MoveDirection,
    ) -> Result<Slide, PartError> {
        self.require_application(stamp, application)?;
        self.own_slide(application, id)?;
        let order = self.slides_of(application).iter().map(|slide| slide.id.get()).collect();
        let alone = !self.guards.has(Guard::Neighbour);
        for (number, position) in shifted(order, id.get(), shift).into_iter().zip(1..) {
            let found = self.slides.values_mut().map(|(_, slide)| slide).find(|slide| slide.id.get() == number);
            if let Some(moved) = found.filter(|moved| moved.position != position && (moved.id == id || !alone)) {
                moved.position = position;
                moved.version += 1;
                moved.updated_at = stamp.at;
            }
        }
        self.own_slide(application, id)
    }
}

#[async_trait]
impl PartRepository<Slide> for InMemoryContent {
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError> {
        let owner = self.state.with(|state| state.applications.get(&application).copied());
        Ok(owner.map(|project| ProjectScoped::new(project, ())))
    }

    async fn page(
        &self,
        project: ProjectId,
        application: ApplicationId,
        listing: Listing,
    ) -> Result<Page<Slide>, StoreError> {
        let mut slides = self.state.with(|state| {
            let owner = state.applications.get(&application);
            let is_own = owner.is_some_and(|owner| state.owns(*owner, project));
            if is_own { state.slides_of(application) } else { Vec::new() }
        });
        slides.sort_by_key(|slide| slide.id);
        list_of(slides, &listing)
    }

    async fn find(&self, id: SlideId) -> Result<Option<ProjectScoped<Slide>>, StoreError> {
        let found = self.state.with(|state| state.slides.get(&id).cloned());
        Ok(found.map(|(project, slide)| ProjectScoped::new(project, slide)))
    }

    async fn insert(&self, stamp: Stamp, application: ApplicationId, draft: SlideContent) -> Result<Slide, PartError> {
        self.state.with(|state| state.insert_slide(stamp, application, draft))
    }

    async fn update(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: SlideId,
        change: SlideChange,
    ) -> Result<Slide, PartError> {
        self.state.with(|state| state.update_slide(stamp, application, id, &change))
    }

    async fn delete(&self, stamp: Stamp, application: ApplicationId, id: SlideId) -> Result<(), PartError> {
        self.state.with(|state| state.delete_slide(stamp, application, id))
    }
}

#[async_trait]
impl PartOrder<Slide> for InMemoryContent {
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: SlideId,
        shift: MoveDirection,
    ) -> Result<Slide, PartError> {
        self.state.with(|state| state.shift_slide(stamp, application, id, shift))
    }
}
