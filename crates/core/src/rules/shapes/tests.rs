use super::*;

/// The text after each prefix in a key of the real length. None of these is a key:
/// [`samples::fill`] generates the characters.
const SAMPLES: &[(&str, &str)] = &[
    ("sk-ant-", "api03-{w93}"),
    ("sk-proj-", "{w74}"),
    ("sk-svcacct-", "{w74}"),
    ("sk-admin-", "{w58}"),
    ("sess-", "{a40}"),
    ("sk-or-", "v1-{h64}"),
    ("sk-", "{a48}"),
    ("gsk_", "{a36}"),
    ("xai-", "{w36}"),
    ("hf_", "{a36}"),
    ("api_org_", "{a36}"),
    ("r8_", "{a36}"),
    ("pplx-", "{a36}"),
    ("csk-", "{a36}"),
    ("fw_", "{a36}"),
    ("pcsk_", "{a6}_{a60}"),
    ("lsv2_", "pt_{h32}_{h10}"),
    ("sk-lf-", "{u}"),
    ("tvly-", "dev-{a32}"),
    ("fc-", "{h32}"),
    ("e2b_", "{h40}"),
    ("nvapi-", "{w64}"),
    ("wandb_v1_", "{w40}"),
    ("sk_live_", "{a36}"),
    ("sk_test_", "{a36}"),
    ("rk_live_", "{a36}"),
    ("rk_test_", "{a36}"),
    ("sk_prod_", "{a36}"),
    ("rk_prod_", "{a36}"),
    ("whsec_", "{b32}"),
    ("sk_", "{h48}"),
    ("sq0atp-", "{w36}"),
    ("sq0csp-", "{w36}"),
    ("sq0idp-", "{w36}"),
    ("EAAAE", "{w59}"),
    ("rzp_live_", "{a36}"),
    ("rzp_test_", "{a36}"),
    ("access_token$production$", "{l16}${h32}"),
    ("access-production-", "{u}"),
    ("access-sandbox-", "{u}"),
    ("access-development-", "{u}"),
    ("FLWSECK", "_TEST-{h32}-X"),
    ("EZAK", "{a40}"),
    ("EZTK", "{a40}"),
    ("shippo_live_", "{h40}"),
    ("shippo_test_", "{h36}"),
    ("duffel_live_", "{w36}"),
    ("duffel_test_", "{w36}"),
    ("ghp_", "{a36}"),
    ("gho_", "{a36}"),
    ("ghu_", "{a36}"),
    ("ghs_", "{a36}"),
    ("ghr_", "{a36}"),
    ("github_pat_", "{a22}_{a59}"),
    ("glpat-", "{w20}"),
    ("glrt-", "t1_{w20}"),
    ("glrtr-", "{w36}"),
    ("gldt-", "{w36}"),
    ("glcbt-", "64_{w20}"),
    ("glptt-", "{w36}"),
    ("glft-", "{w20}"),
    ("glimt-", "{w36}"),
    ("glagent-", "{w50}"),
    ("gloas-", "{h64}"),
    ("glsoat-", "{w36}"),
    ("glffct-", "{w36}"),
    ("glwt-", "{w36}"),
    ("GR1348941", "{w20}"),
    ("ATATT3", "xFfGF0{w170}={U8}"),
    ("ATCTT3", "xFfGN0{w60}={U8}"),
    ("ATSTT3", "xFfGN0{w60}={U8}"),
    ("ATBB", "{a32}"),
    ("npm_", "{a36}"),
    ("pypi-", "AgEIcHlwaS5vcmc{w70}"),
    ("rubygems_", "{h48}"),
    ("cio", "{a36}"),
    ("CLOJARS_", "{l60}"),
    ("oy2", "{l43}"),
    ("dckr_pat_", "{w27}"),
    ("dckr_oat_", "{w32}"),
    ("AKCp", "{a69}"),
    ("cmVmdGtu", "{a56}"),
    ("CCIPAT_", "{a22}_{h40}"),
    ("CCIPRJ_", "{a22}_{h40}"),
    ("bkua_", "{h36}"),
    ("bkaj_", "{w40}"),
    ("squ_", "{h36}"),
    ("sqp_", "{h36}"),
    ("sqa_", "{h36}"),
    ("sgp_", "{h16}_{h40}"),
    ("API-", "{U26}"),
    ("ico-", "{a36}"),
    ("snyk_uat.", "{h8}.{w60}"),
    ("AKIA", "{U16}"),
    ("ASIA", "{U16}"),
    ("ABIA", "{U16}"),
    ("ACCA", "{U16}"),
    ("ABSK", "{b110}"),
    ("bedrock-api-key-", "{b60}"),
    ("amzn.mws.", "{u}"),
    ("amzn1.oa2-cs.v1.", "{h64}"),
    ("AIza", "Sy{w33}"),
    ("ya29.", "a0{w60}"),
    ("1//0", "e{w60}"),
    ("GOCSPX-", "{w28}"),
    ("LTAI", "{a20}"),
    ("AKID", "{a32}"),
    ("AQVN", "{w36}"),
    ("y0_", "{w55}"),
    ("t1.9eu", "elZ{w30}.{w86}"),
    ("dop_v1_", "{a36}"),
    ("doo_v1_", "{a36}"),
    ("dor_v1_", "{a36}"),
    ("dapi", "{h36}"),
    ("dkea", "{h36}"),
    ("dose", "{h36}"),
    ("v1.0-", "{h24}-{h146}"),
    ("cfut_", "{w36}"),
    ("cfat_", "{w36}"),
    ("cfk_", "{w36}"),
    ("vcp_", "{w36}"),
    ("vca_", "{w36}"),
    ("vcr_", "{w36}"),
    ("vck_", "{w36}"),
    ("vci_", "{w36}"),
    ("vercel_blob_rw_", "{a16}_{a30}"),
    ("nfp_", "{a36}"),
    ("nfc_", "{a36}"),
    ("nfo_", "{a36}"),
    ("nfu_", "{a36}"),
    ("fm1r_", "{b36}"),
    ("fm1a_", "{b36}"),
    ("fm2_", "{b36}"),
    ("fo1_", "{b36}"),
    ("rnd_", "{a36}"),
    ("HRKU-", "{u}"),
    ("SCW", "{U17}"),
    ("pscale_", "tkn_{w43}"),
    ("sbp_", "{a36}"),
    ("sb_secret_", "{w31}"),
    ("napi_", "{a36}"),
    ("npg_", "{a36}"),
    ("tskey-", "auth-{a12}CNTRL-{a32}"),
    ("sha256~", "{w43}"),
    ("hvs.", "CAESI{w90}"),
    ("hvb.", "AAAAAQ{w90}"),
    ("hvr.", "{w90}"),
    ("s.", "{a24}"),
    ("dp.pt.", "{a36}"),
    ("dp.st.", "dev.{a40}"),
    ("dp.ct.", "{a36}"),
    ("dp.sa.", "{a36}"),
    ("dp.scim.", "{a36}"),
    ("dp.audit.", "{a36}"),
    ("ops_eyJ", "{b200}"),
    ("A3-", "{U6}-{U6}-{U5}-{U5}-{U5}-{U5}"),
    ("pul-", "{h36}"),
    ("AGE-SECRET-KEY-", "1{U58}"),
    ("pat.", "{w22}.{h24}.{a20}"),
    ("pnu_", "{a36}"),
    ("pnb_", "{a36}"),
    ("eyJ", "{a33}.eyJ{a60}.{w43}"),
    ("eyJrIjoi", "{a80}"),
    ("glsa_", "{a32}_{h8}"),
    ("glc_", "{b100}"),
    ("sntrys_", "{b120}_{b43}"),
    ("sntryu_", "{h36}"),
    ("sntrya_", "{h36}"),
    ("sntryi_", "{h36}"),
    ("NRAK-", "{U27}"),
    ("NRII-", "{w32}"),
    ("NRJS-", "{h19}"),
    ("NRRA-", "{h42}"),
    ("NRIQ-", "{w32}"),
    ("NRAL-", "{w32}"),
    ("ddapp_", "{a36}"),
    ("ddpat_", "{a36}"),
    ("dt0c01.", "{U24}.{U64}"),
    ("dt0s01.", "{U24}.{U64}"),
    ("dt0s16.", "{U24}.{U64}"),
    ("phx_", "{w36}"),
    ("sdk-", "{u}"),
    ("api-", "{u}"),
    ("xoxa-", "2-{d12}-{d12}-{h32}"),
    ("xoxb-", "{d12}-{d13}-{a24}"),
    ("xoxc-", "{d12}-{d12}-{d12}-{h64}"),
    ("xoxd-", "{a60}%2B{a40}%3D%3D"),
    ("xoxe.", "xoxp-1-{a146}"),
    ("xoxe-", "1-{a146}"),
    ("xoxo-", "{d12}-{h32}"),
    ("xoxp-", "{d12}-{d12}-{d12}-{h32}"),
    ("xoxr-", "{d12}-{d12}-{h32}"),
    ("xoxs-", "{d12}-{d12}-{h10}"),
    ("xapp-", "1-A{U10}-{d13}-{h64}"),
    ("xwfp-", "{d12}-{d12}-{a40}"),
    ("hooks.slack.com/services/", "T{U8}/B{U10}/{a24}"),
    ("hooks.slack.com/workflows/", "T{U8}/A{U10}/{d18}/{a24}"),
    ("hooks.slack.com/triggers/", "T{U8}/{d12}/{h32}"),
    ("discord.com/api/webhooks/", "{d18}/{w68}"),
    ("discordapp.com/api/webhooks/", "{d18}/{w68}"),
    ("webhook.office.com/webhookb2/", "{u}@{u}/IncomingWebhook/{h32}/{u}"),
    ("SG.", "{w22}.{w43}"),
    ("key-", "{h32}"),
    ("xkeysib-", "{h64}-{a16}"),
    ("xsmtpsib-", "{h64}-{a16}"),
    ("re_", "{a8}_{a24}"),
    ("PMAK-", "{h24}-{h34}"),
    ("EAA", "{a180}"),
    ("IGQ", "{a140}"),
    ("SK", "{h32}"),
    ("lin_api_", "{a36}"),
    ("lin_oauth_", "{a36}"),
    ("ntn_", "{a36}"),
    ("secret_", "{a43}"),
    ("figd_", "{w36}"),
    ("figo_", "{w36}"),
    ("figu_", "{w36}"),
    ("sl.", "{w140}"),
    ("pat", "{a14}.{h64}"),
    ("shpat_", "{a36}"),
    ("shpca_", "{a36}"),
    ("shppa_", "{a36}"),
    ("shpss_", "{a36}"),
    ("shpua_", "{a36}"),
    ("pat-na1-", "{u}"),
    ("pat-eu1-", "{u}"),
    ("CFPAT-", "{w36}"),
    ("tfp_", "{w36}"),
    ("rdme_", "{a36}"),
    ("fio-u-", "{w64}"),
    ("aio_", "{a36}"),
    ("sk.eyJ", "{a60}.{w22}"),
    ("tk.eyJ", "{a60}.{w22}"),
    ("sm_aat_", "{a36}"),
    ("sm_pat_", "{a36}"),
    ("zpka_", "{h32}_{h8}"),
    ("secret-live-", "{w36}"),
    ("secret-test-", "{w36}"),
    ("s-s4t2ud-", "{h36}"),
    ("s-s4t2af-", "{h36}"),
    ("polar_", "oat_{a40}"),
];

/// The text before and after each middle part.
const SAMPLES_OF_INFIXES: &[(&str, &str, &str)] = &[
    ("{d10}", ":AA", "{w33}"),
    ("{a14}", ".atlasv1.", "{w67}"),
    ("{a3}8", "Q~", "{w31}"),
    ("{h32}", "-us", "21"),
    ("{a52}", "JQQJ9", "9{a26}"),
    ("{a76}", "AZDO", "{a4}"),
    ("{B76}", "+ASt", "{B6}=="),
    ("{B40}", "+ABa", "{B6}=="),
    ("{B33}", "+AMC", "{B6}="),
    ("{a42}", "AzSe", "{a6}"),
    ("{d16}", "/1:", "{h32}"),
];

/// Returns each prefix with a complete key.
fn complete_keys() -> impl Iterator<Item = (&'static str, String)> {
    SAMPLES.iter().map(|(start, rest)| (*start, format!("{start}{}", samples::fill(rest))))
}

#[test]
fn every_shape_recognizes_its_sample() {
    let samples: Vec<(&str, String)> = complete_keys().collect();
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let own: Vec<_> = samples.iter().filter(|(start, _)| *start == shape.start).collect();
        assert!(!own.is_empty(), "{} has no sample", shape.start);
        let fails = |(_, it): &&&(&str, String)| shape.length(it) != Some(it.len());
        wrong.extend(own.iter().filter(fails).map(|(_, it)| (it, shape.length(it))));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(samples.len(), SHAPES.len());
}

#[test]
fn every_infix_recognizes_its_sample() {
    for infix in INFIXES {
        let mut own = SAMPLES_OF_INFIXES.iter().filter(|(_, middle, _)| *middle == infix.middle);
        let (before, middle, after) = own.next().expect("a sample");
        let (before, after) = (samples::fill(before), samples::fill(after));
        let sample = format!("{before}{middle}{after}");
        assert_eq!(infix.range(&sample, before.len(), 0), Some(0..sample.len()), "{sample}");
    }
}

#[test]
fn key_that_was_cut_off_is_recognized() {
    let mut wrong = Vec::new();
    for (start, sample) in complete_keys() {
        let Some(shape) = SHAPES.iter().find(|shape| shape.start == start) else { continue };
        let is_exact = matches!(
            shape.characters,
            KeyCharacters::Capitals
                | KeyCharacters::Random
                | KeyCharacters::Uuid
                | KeyCharacters::Path
                | KeyCharacters::Parts
        );
        let least = start.len() + shape.min_length.max(16);
        for end in (least..sample.len()).filter(|_| !is_exact) {
            let cut = sample[..end].trim_end_matches(['-', '.', '%', '/']);
            // The first characters of some keys are always the same.
            let is_long = cut.len() >= least;
            if is_long && at_start(cut).is_none() {
                wrong.push((cut.to_owned(), sample.clone()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn words_are_distinguished_from_random_letters() {
    for words in ["MyTokenProviderFactory", "correcthorsebattery", "authentication_required"] {
        assert!(has_words(words) && !looks_random(words), "{words}");
    }
    for random in ["xkqzjvbnmwplrtgh", "QwZxKjVbNmTpLrGd", "a1b2c3d4", "deadbeef0123"] {
        assert!(looks_random(random), "{random}");
    }
}

#[test]
fn redaction_page_of_the_docs_lists_every_kind() {
    let page = include_str!("../../../../../docs/redaction.md");
    let kinds = SHAPES.iter().map(|shape| shape.kind).chain(INFIXES.iter().map(|it| it.kind));
    let missing: Vec<&str> = kinds.filter(|kind| !page.contains(&format!("`{kind}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
