//! Objects and lists of an API.

use std::ops::ControlFlow;

use reqwest::StatusCode;
use segue_core::ports::{ForgeFault, ForgeResult, ListPage, ListQuery};
use serde::de::DeserializeOwned;

use super::{ApiClient, ApiRequest, MAX_PAGES};

impl ApiClient {
    /// Requests one object.
    pub(crate) async fn object<T: DeserializeOwned>(&self, request: &ApiRequest) -> ForgeResult<T> {
        let answer = self.send(request).await?;
        answer.parse().map_err(|fault| self.failure(request, fault))
    }

    /// Requests one object, and converts it. Fails if a field is missing that it needs.
    pub(crate) async fn converted<J: DeserializeOwned, T>(
        &self,
        request: &ApiRequest,
        convert: impl FnOnce(J) -> Option<T> + Send,
    ) -> ForgeResult<T> {
        let json = self.object(request).await?;
        let incomplete = || ForgeFault::InvalidAnswer("a needed field is missing".to_owned());
        convert(json).ok_or_else(|| self.failure(request, incomplete()))
    }

    /// Requests one page of a list. `convert` returns `None` for other objects.
    pub(crate) async fn listed<J: DeserializeOwned, T>(
        &self,
        request: &ApiRequest,
        query: &ListQuery,
        convert: impl Fn(J) -> Option<T> + Send,
    ) -> ForgeResult<ListPage<T>> {
        let page = query.page.unwrap_or(1);
        let request = request.page(page).with_etag(query.etag.clone());
        let answer = self.send(&request).await?;
        if answer.status == StatusCode::NOT_MODIFIED {
            return Ok(ListPage::NotModified);
        }
        let items: Vec<J> = answer.parse().map_err(|fault| self.failure(&request, fault))?;
        Ok(ListPage::Page {
            items: items.into_iter().filter_map(convert).collect(),
            next: answer.has_next_page().then_some(page + 1),
            etag: answer.etag(),
        })
    }

    /// Requests one object. `None` if the server does not have it.
    pub(crate) async fn optional<T: DeserializeOwned>(
        &self,
        request: &ApiRequest,
    ) -> ForgeResult<Option<T>> {
        match self.object(request).await {
            Err(failure) if failure.fault == ForgeFault::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Requests all pages of a list.
    pub(crate) async fn all<T: DeserializeOwned + Send>(
        &self,
        request: &ApiRequest,
    ) -> ForgeResult<Vec<T>> {
        let mut all = Vec::new();
        let each = |items: Vec<T>| {
            all.extend(items);
            ControlFlow::<()>::Continue(())
        };
        self.each_page(request, each).await?;
        Ok(all)
    }

    /// Requests the pages of a list until `each` breaks. Returns its value, or `None` after the
    /// last page.
    pub(crate) async fn each_page<T: DeserializeOwned + Send, B: Send>(
        &self,
        request: &ApiRequest,
        mut each: impl FnMut(Vec<T>) -> ControlFlow<B> + Send,
    ) -> ForgeResult<Option<B>> {
        for page in 1..=MAX_PAGES {
            let answer = self.send(&request.page(page)).await?;
            let items = answer.parse().map_err(|fault| self.failure(request, fault))?;
            if let ControlFlow::Break(found) = each(items) {
                return Ok(Some(found));
            }
            if !answer.has_next_page() {
                return Ok(None);
            }
        }
        Err(self.failure(request, ForgeFault::TooManyPages(MAX_PAGES as usize)))
    }
}
