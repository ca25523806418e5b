//! The table of results: measured value, baseline, ratio, and whether the aim is met.

use std::fmt;
use std::time::Duration;

/// A measured value, with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    Time(Duration),
    /// Bytes, of memory or of files.
    Memory(u64),
    /// Bytes per second.
    Rate(f64),
    /// The used share of one processor core, where 1.0 is the whole core.
    Load(f64),
    Count(u64),
}

impl Figure {
    /// Returns the value as a number that can be compared with values of the same variant.
    #[expect(clippy::cast_precision_loss, reason = "only the first three digits of a value matter")]
    fn value(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Memory(count) | Self::Count(count) => count as f64,
            Self::Rate(value) | Self::Load(value) => value,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{:.2} ms", time.as_secs_f64() * 1e3),
            Self::Memory(_) => write!(f, "{:.2} MB", self.value() / 1e6),
            Self::Rate(rate) => write!(f, "{:.0} MB/s", rate / 1e6),
            Self::Load(load) => write!(f, "{:.3} %", load * 1e2),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}

/// The limit that a value should meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aim {
    Below(Figure),
    /// More than this many times the baseline.
    Times(f64),
    /// Less than this many times the baseline.
    Within(f64),
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(figure) => write!(f, "< {figure}"),
            Self::Times(ratio) => write!(f, "> {ratio}x"),
            Self::Within(ratio) => write!(f, "< {ratio}x"),
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    measure: String,
    ours: Figure,
    baseline: Option<Figure>,
    aim: Option<Aim>,
}

impl Row {
    pub(crate) fn new(measure: impl Into<String>, ours: Figure) -> Self {
        Self { measure: measure.into(), ours, baseline: None, aim: None }
    }

    pub(crate) fn against(mut self, baseline: Figure) -> Self {
        self.baseline = Some(baseline);
        self
    }

    pub(crate) fn aim(mut self, aim: Aim) -> Self {
        self.aim = Some(aim);
        self
    }

    fn ratio(&self) -> Option<f64> {
        let baseline = self.baseline?.value();
        (baseline > 0.0).then(|| self.ours.value() / baseline)
    }

    fn is_met(&self) -> Option<bool> {
        match self.aim? {
            Aim::Below(limit) => Some(self.ours.value() < limit.value()),
            Aim::Times(least) => Some(self.ratio()? > least),
            Aim::Within(most) => Some(self.ratio()? < most),
        }
    }

    fn cells(&self) -> [String; 6] {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [
            self.measure.clone(),
            self.ours.to_string(),
            or_dash(self.baseline.map(|it| it.to_string())),
            or_dash(self.ratio().map(|it| format!("{it:.2}x"))),
            or_dash(self.aim.map(|it| it.to_string())),
            or_dash(self.is_met().map(|met| if met { "met" } else { "MISSED" }.to_owned())),
        ]
    }
}

/// All rows of a run.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Row>);

impl Table {
    pub(crate) fn extend(&mut self, rows: Vec<Row>) {
        self.0.extend(rows);
    }
}

const HEAD: [&str; 6] = ["measure", "ours", "baseline", "ratio", "aim", ""];

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![HEAD.map(str::to_owned)];
        lines.extend(self.0.iter().map(Row::cells));
        let width = |column: usize| {
            lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
        };
        let widths: [usize; 6] = std::array::from_fn(width);
        for [measure, figures @ .., verdict] in &lines {
            write!(f, "{measure:<0$}", widths[0])?;
            for (figure, width) in figures.iter().zip(&widths[1..]) {
                write!(f, "  {figure:>width$}")?;
            }
            writeln!(f, "  {verdict}")?;
        }
        Ok(())
    }
}
