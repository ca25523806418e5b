//! A form: a few fields that the user fills in.

use segue_core::model::SessionId;

use super::TextEditor;

/// A form with its fields.
#[derive(Clone, Debug)]
pub(crate) struct UiForm {
    pub(crate) title: String,
    pub(crate) purpose: FormPurpose,
    pub(crate) fields: Vec<FormField>,
    pub(crate) focus: usize,
    /// What the form does, in one line.
    pub(crate) note: String,
}

/// A form that cannot be opened before the vendors are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AwaitedForm {
    NewSession { vendor: Option<String> },
    HandOver,
}

/// What a form is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FormPurpose {
    NewSession,
    NewTask,
    HandOver {
        session: SessionId,
        name: String,
    },
    /// `running` has the names of the agents of this kind that run, in their order.
    Scale {
        session: SessionId,
        kind: String,
        running: Vec<String>,
    },
    Rename {
        session: SessionId,
        name: String,
    },
}

/// A field of a form.
#[derive(Clone, Debug)]
pub(crate) struct FormField {
    pub(crate) label: &'static str,
    pub(crate) kind: FieldKind,
    /// What may be written, or what an empty field means.
    pub(crate) hint: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) enum FieldKind {
    /// `is_long` allows several lines.
    Text {
        editor: TextEditor,
        is_long: bool,
    },
    Choice {
        options: Vec<String>,
        chosen: usize,
    },
}

impl UiForm {
    /// Returns the text of a field, or its chosen option. `None` if it is empty.
    pub(crate) fn value(&self, label: &str) -> Option<String> {
        let field = self.fields.iter().find(|it| it.label == label)?;
        let value = match &field.kind {
            FieldKind::Text { editor, .. } => editor.text().trim().to_owned(),
            FieldKind::Choice { options, chosen } => options.get(*chosen)?.clone(),
        };
        (!value.is_empty()).then_some(value)
    }

    pub(crate) fn focused(&mut self) -> Option<&mut FormField> {
        self.fields.get_mut(self.focus)
    }

    /// Moves the focus. Stays at the last and the first field.
    pub(crate) fn move_focus(&mut self, by: isize) {
        let last = self.fields.len().saturating_sub(1);
        self.focus = self.focus.saturating_add_signed(by).min(last);
    }
}

impl FormField {
    pub(crate) fn text(label: &'static str, value: &str, hint: &'static str) -> Self {
        let kind = FieldKind::Text { editor: TextEditor::new(value), is_long: false };
        Self { label, kind, hint }
    }

    pub(crate) fn long_text(label: &'static str, hint: &'static str) -> Self {
        let kind = FieldKind::Text { editor: TextEditor::default(), is_long: true };
        Self { label, kind, hint }
    }

    pub(crate) fn choice(label: &'static str, options: Vec<String>, hint: &'static str) -> Self {
        Self { label, kind: FieldKind::Choice { options, chosen: 0 }, hint }
    }
}
