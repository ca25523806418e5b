//! Draws the screen of a terminal as an SVG. The text stays text, and no other file is needed.

use std::fmt::Write as _;

use segue_conformance::styled::{RunColour, RunStyle, StyledRun};

/// The size of a cell in pixels. A monospace font is about 0.6 times as wide as it is high.
const CELL_WIDTH: f32 = 8.4;
const CELL_HEIGHT: f32 = 20.0;
const FONT_SIZE: u32 = 14;

/// The space around the text, and the height of the bar at the top of the window.
const MARGIN: f32 = 18.0;
const BAR: f32 = 34.0;

/// The colours of the window. It has its own background, so that it is readable on a page of any
/// colour.
const BACKGROUND: &str = "#1b1f27";
const BORDER: &str = "#4b5363";
const TEXT: &str = "#d7dce4";
const BUTTONS: [&str; 3] = ["#e06c6c", "#e0b45c", "#7cb86a"];

/// The colours of the first 16 entries of the terminal's palette.
const PALETTE: [&str; 16] = [
    "#5c6370", "#f07178", "#98c379", "#e5c07b", "#6cb0f3", "#c792ea", "#5fc9c9", "#d7dce4",
    "#7f8896", "#ff8b92", "#b5e08f", "#ffd98f", "#8cc8ff", "#ddb3ff", "#86e1e1", "#ffffff",
];

/// Returns these rows of a terminal as an SVG, without the empty rows before and after the text.
pub(crate) fn draw(rows: &[Vec<StyledRun>], columns: u16) -> String {
    let first = rows.iter().position(|row| !row.is_empty()).unwrap_or_default();
    let end = rows.iter().rposition(|row| !row.is_empty()).map_or(first, |last| last + 1);
    let rows = &rows[first..end];
    let width = f32::from(columns) * CELL_WIDTH + 2.0 * MARGIN;
    let height = pixels(rows.len()) + BAR + 2.0 * MARGIN;
    let mut svg = frame(width, height);
    for (number, row) in rows.iter().enumerate() {
        let baseline = BAR + MARGIN + pixels(number) + 14.0;
        write_row(&mut svg, row, baseline);
    }
    svg + "</g>\n</svg>\n"
}

fn pixels(rows: usize) -> f32 {
    f32::from(u16::try_from(rows).unwrap_or(u16::MAX)) * CELL_HEIGHT
}

fn frame(width: f32, height: f32) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>Segue brings an agent back into its conversation</title>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"10\" fill=\"{BACKGROUND}\" \
         stroke=\"{BORDER}\"/>\n",
        width - 1.0,
        height - 1.0,
    );
    for (colour, x) in BUTTONS.into_iter().zip([22, 42, 62]) {
        let _infallible = writeln!(svg, "<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{colour}\"/>");
    }
    svg + &format!(
        "<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', \
         'Liberation Mono', monospace\" font-size=\"{FONT_SIZE}\" fill=\"{TEXT}\" \
         xml:space=\"preserve\">\n"
    )
}

/// Writes a row as one element. Each run has its own position, so that columns stay aligned with
/// any font.
fn write_row(svg: &mut String, row: &[StyledRun], baseline: f32) {
    if row.is_empty() {
        return;
    }
    let _infallible = write!(svg, "<text y=\"{baseline:.0}\">");
    for StyledRun { column, text, style } in row {
        let look = look(*style);
        let x = MARGIN + f32::from(*column) * CELL_WIDTH;
        let _infallible = write!(svg, "<tspan x=\"{x:.1}\"{look}>{}</tspan>", escaped(text));
    }
    svg.push_str("</text>\n");
}

/// Returns the attributes of an element that looks like this text.
fn look(style: RunStyle) -> String {
    let mut look = match style.colour {
        RunColour::Default => String::new(),
        RunColour::Palette(index) => {
            PALETTE.get(usize::from(index)).map_or_else(String::new, |it| format!(" fill=\"{it}\""))
        }
        RunColour::Rgb(red, green, blue) => format!(" fill=\"#{red:02x}{green:02x}{blue:02x}\""),
    };
    if style.is_bold {
        look += " font-weight=\"bold\"";
    }
    if style.is_dim {
        look += " fill-opacity=\"0.65\"";
    }
    look
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
